package formatbench.formats;

import java.util.List;

/** Parquet as in the published program: the objects of Avro's classes exist before the write. */
public class ParquetSpecificSeedFormat extends ParquetSpecificFormat {
    @Override
    public List<?> ownObjects(List<?> records, Class<?> type) {
        return new AvroSpecificFormat().libraryRecords(records, type);
    }
}
