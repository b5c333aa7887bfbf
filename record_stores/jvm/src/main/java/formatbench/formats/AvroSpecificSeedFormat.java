package formatbench.formats;

import java.util.List;

/** Avro as in the published program: its objects exist before the write, and gzip has level 9. */
public class AvroSpecificSeedFormat extends AvroSpecificFormat {
    private static final int DEFLATE_LEVEL = 9;

    @Override
    public List<?> ownObjects(List<?> records, Class<?> type) {
        return libraryRecords(records, type);
    }

    @Override
    protected int deflateLevel() {
        return DEFLATE_LEVEL;
    }
}
