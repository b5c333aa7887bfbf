package formatbench.formats;

import formatbench.Codec;
import formatbench.Entity;
import formatbench.Format;
import formatbench.Person;
import formatbench.Reflected;
import formatbench.avro.EntityRecord;
import formatbench.avro.PersonRecord;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.avro.Schema;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DatumReader;
import org.apache.avro.io.DatumWriter;
import org.apache.avro.specific.SpecificData;

/** Avro's object container file, with generic records; its codecs compress block by block. */
public class AvroGenericFormat implements Format {
    /** Level of gzip's command, and of the other formats. */
    private static final int DEFLATE_LEVEL = 6;

    private static final String ENDING = "Record";

    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws IOException {
        Schema schema = schema(type);
        GenericData model = model(schema);
        try (DataFileWriter<Object> file = new DataFileWriter<>(writer(model, schema))) {
            file.setCodec(factory(codec)).create(schema, path.toFile());
            for (Object each : records) {
                file.append(libraryRecord(each, schema, model));
            }
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws IOException {
        Schema schema = schema(type);
        GenericData model = model(schema);
        try (DataFileReader<Object> file = new DataFileReader<>(path.toFile(), reader(model, schema))) {
            while (file.hasNext()) {
                sink.accept(file.next());
            }
        }
    }

    @Override
    public Object plain(Object object) {
        return plainRecord((GenericRecord) object);
    }

    /** Return the data model that makes the objects. */
    protected GenericData model(Schema schema) {
        return GenericData.get();
    }

    /** Return the schema of the records. */
    protected Schema schema(Class<?> type) {
        // Without avro.java.string of the generated classes, generic texts are Utf8.
        String generated = generatedSchema(type).toString();
        return new Schema.Parser().parse(generated.replace(
                "{\"type\":\"string\",\"avro.java.string\":\"String\"}", "\"string\""));
    }

    /** Return records as those of the library. */
    final List<?> libraryRecords(List<?> records, Class<?> type) {
        Schema schema = schema(type);
        GenericData model = model(schema);
        List<Object> found = new ArrayList<>(records.size());
        records.forEach(each -> found.add(libraryRecord(each, schema, model)));
        return found;
    }

    static Schema generatedSchema(Class<?> type) {
        if (type == Entity.class) {
            return EntityRecord.getClassSchema();
        }
        return type == Person.class ? PersonRecord.getClassSchema() : otherSchema(type);
    }

    /** Return a record of the library with the values of a plain one, or that of the library itself. */
    GenericRecord libraryRecord(Object plain, Schema schema, GenericData model) {
        if (plain instanceof GenericRecord own) {
            return own;
        }
        GenericRecord record = (GenericRecord) model.newRecord(null, schema);
        if (plain instanceof Person person) {
            return AvroPersons.fill(record, person, model);
        }
        if (!(plain instanceof Entity entity)) {
            Reflected.values(plain).forEach(record::put);
            return record;
        }
        for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
            record.put(i, Entity.number(entity, i));
            record.put(Entity.FIELDS_OF_A_KIND + i, Entity.text(entity, i));
        }
        return record;
    }

    static Object plainRecord(GenericRecord record) {
        if (record.getSchema().getName().equals(PersonRecord.getClassSchema().getName())) {
            return AvroPersons.plain(record);
        }
        if (!record.getSchema().getName().equals(EntityRecord.getClassSchema().getName())) {
            return otherPlain(record);
        }
        Entity entity = new Entity();
        for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
            Entity.setNumber(entity, i, (Integer) record.get(i));
            Entity.setText(entity, i, record.get(Entity.FIELDS_OF_A_KIND + i).toString());
        }
        return entity;
    }

    private static Schema otherSchema(Class<?> type) {
        // Generated classes have the names of the plain ones with this ending.
        String name = EntityRecord.class.getPackageName() + "." + type.getSimpleName() + ENDING;
        try {
            return SpecificData.get().getSchema(Class.forName(name));
        } catch (ClassNotFoundException error) {
            throw new IllegalArgumentException("there is no schema of " + type, error);
        }
    }

    private static Object otherPlain(GenericRecord record) {
        String name = record.getSchema().getName();
        Class<?> type = Reflected.type(name.substring(0, name.length() - ENDING.length()));
        return Reflected.make(type, field -> {
            Object value = record.get(field);
            return value instanceof CharSequence text ? text.toString() : value;
        });
    }

    @SuppressWarnings("unchecked")
    private static DatumWriter<Object> writer(GenericData model, Schema schema) {
        return model.createDatumWriter(schema);
    }

    @SuppressWarnings("unchecked")
    private static DatumReader<Object> reader(GenericData model, Schema schema) {
        return model.createDatumReader(schema);
    }

    /** Return the level of Avro's codec deflate. */
    protected int deflateLevel() {
        return DEFLATE_LEVEL;
    }

    private CodecFactory factory(Codec codec) {
        return switch (codec) {
            case NONE -> CodecFactory.nullCodec();
            case GZIP -> CodecFactory.deflateCodec(deflateLevel());
            case ZSTD -> CodecFactory.zstandardCodec(Codec.ZSTD_LEVEL);
        };
    }
}
