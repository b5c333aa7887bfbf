package formatbench.formats;

import formatbench.OwnFormat;
import formatbench.RecordType;

/** Serialization of Java of maps. */
public final class OwnJavaSerialization extends JavaSerializationFormat implements OwnFormat {
    private final RecordType type;

    public OwnJavaSerialization(RecordType type) {
        this.type = type;
    }

    @Override
    public RecordType type() {
        return type;
    }

    @Override
    public Object plain(Object object) {
        return object;
    }
}
