package formatbench.formats;

/** Parquet through Avro's generated classes: rows share the texts of a dictionary. */
public class ParquetSpecificFormat extends ParquetGenericFormat {
    public ParquetSpecificFormat() {
        super(new AvroSpecificFormat());
    }
}
