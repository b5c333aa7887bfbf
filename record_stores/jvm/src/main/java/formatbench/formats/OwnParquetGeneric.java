package formatbench.formats;

import formatbench.Field;
import formatbench.OwnFormat;
import formatbench.RecordType;
import org.apache.parquet.avro.AvroWriteSupport;
import org.apache.parquet.conf.ParquetConfiguration;

/** Parquet through Avro's generic records of a schema that is given. */
public final class OwnParquetGeneric extends ParquetGenericFormat implements OwnFormat {
    /** Option of Avro's library, which has no public name for it: a list of records around elements. */
    private static final String ELEMENT_RECORDS = "parquet.avro.add-list-element-records";

    private final OwnAvroGeneric avro;

    public OwnParquetGeneric(RecordType type) {
        this(new OwnAvroGeneric(type));
    }

    private OwnParquetGeneric(OwnAvroGeneric avro) {
        super(avro);
        this.avro = avro;
    }

    @Override
    public RecordType type() {
        return avro.type();
    }

    @Override
    public Object field(Object record, Field field) {
        return avro.field(record, field);
    }

    @Override
    public Object plain(Object object) {
        return avro.plain(object);
    }

    @Override
    ParquetConfiguration configuration() {
        ParquetConfiguration found = super.configuration();
        // The older structure of lists, the default, has no nulls within.
        found.setBoolean(AvroWriteSupport.WRITE_OLD_LIST_STRUCTURE, false);
        found.setBoolean(ELEMENT_RECORDS, false);
        return found;
    }
}
