package formatbench.formats;

import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.specific.SpecificData;

/** Avro's object container file, with records of generated classes whose texts are String. */
public class AvroSpecificFormat extends AvroGenericFormat {
    @Override
    protected GenericData model(Schema schema) {
        return SpecificData.getForSchema(schema);
    }

    @Override
    protected Schema schema(Class<?> type) {
        return generatedSchema(type);
    }
}
