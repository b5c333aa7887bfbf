package formatbench.formats;

import com.esotericsoftware.kryo.Kryo;
import formatbench.OwnFormat;
import formatbench.RecordType;
import java.math.BigDecimal;
import java.time.Instant;

/** Kryo of maps: each value with the number of its class, all of which are registered. */
public final class OwnKryo extends KryoFormat implements OwnFormat {
    private final RecordType type;

    public OwnKryo(RecordType type) {
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

    @Override
    Kryo registered(Class<?> maps) {
        Kryo kryo = kryo(maps);
        kryo.register(byte[].class);
        kryo.register(Instant.class);
        kryo.register(BigDecimal.class);
        return kryo;
    }
}
