package formatbench.formats;

import formatbench.Field;
import formatbench.OwnFormat;
import formatbench.RecordType;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.Conversions.DecimalConversion;
import org.apache.avro.Schema;
import org.apache.avro.data.TimeConversions.TimestampMicrosConversion;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;

/** Avro's generic records of a schema that is given, with the library's conversions of logical types. */
public final class OwnAvroGeneric extends AvroGenericFormat implements OwnFormat {
    private final RecordType type;

    public OwnAvroGeneric(RecordType type) {
        this.type = type;
    }

    @Override
    public RecordType type() {
        return type;
    }

    @Override
    public Object field(Object record, Field field) {
        return ((GenericRecord) record).get(field.name());
    }

    @Override
    public Object plain(Object object) {
        return OwnFormat.super.plain(object);
    }

    @Override
    protected GenericData model(Schema schema) {
        GenericData model = new GenericData();
        model.addLogicalTypeConversion(new TimestampMicrosConversion());
        model.addLogicalTypeConversion(new DecimalConversion());
        return model;
    }

    @Override
    protected Schema schema(Class<?> maps) {
        return new Schema.Parser().parse(type.schema());
    }

    @Override
    GenericRecord libraryRecord(Object plain, Schema schema, GenericData model) {
        return record((Map<?, ?>) plain, type, schema, model);
    }

    private static GenericRecord record(Map<?, ?> plain, RecordType of, Schema schema, GenericData model) {
        GenericRecord record = (GenericRecord) model.newRecord(null, schema);
        for (int i = 0; i < of.fields().size(); i++) {
            Field field = of.fields().get(i);
            Schema inner = schema.getFields().get(i).schema();
            record.put(i, value(plain.get(field.name()), field, inner, model));
        }
        return record;
    }

    private static Object value(Object plain, Field of, Schema schema, GenericData model) {
        if (plain == null) {
            return null;
        }
        return switch (of.kind()) {
            case BYTES -> ByteBuffer.wrap((byte[]) plain);
            case ENUM -> model.createEnum((String) plain, present(schema, of));
            case RECORD -> record((Map<?, ?>) plain, of.record(), present(schema, of), model);
            case LIST -> {
                Schema items = present(schema, of).getElementType();
                List<Object> found = new ArrayList<>(((List<?>) plain).size());
                ((List<?>) plain).forEach(each -> found.add(value(each, of.element(), items, model)));
                yield found;
            }
            case MAP -> {
                Schema values = present(schema, of).getValueType();
                Map<Object, Object> found = new LinkedHashMap<>();
                ((Map<?, ?>) plain).forEach((key, each) ->
                        found.put(key, value(each, of.element(), values, model)));
                yield found;
            }
            case UNION -> branch(plain, schema);
            default -> plain;
        };
    }

    /** Return a value of a union in the class of its branch, by which the library finds that. */
    private static Object branch(Object plain, Schema union) {
        for (Schema each : union.getTypes()) {
            if (plain instanceof Long number && each.getType() == Schema.Type.INT) {
                return Math.toIntExact(number);
            }
            if (plain instanceof Double number && each.getType() == Schema.Type.FLOAT) {
                return number.floatValue();
            }
        }
        return plain;
    }

    /** Return the schema of the values that are not null. */
    private static Schema present(Schema schema, Field of) {
        return of.isOptional() ? schema.getTypes().get(1) : schema;
    }
}
