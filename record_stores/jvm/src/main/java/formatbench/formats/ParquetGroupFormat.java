package formatbench.formats;

import formatbench.Codec;
import formatbench.Entity;
import formatbench.Format;
import formatbench.UnsupportedException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.GroupFactory;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.hadoop.ParquetReader;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.api.ReadSupport;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.example.GroupReadSupport;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Types;

/** Parquet through its library's own groups, which have a list of values for each field. */
public class ParquetGroupFormat implements Format {
    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws IOException {
        MessageType schema = schema();
        GroupFactory groups = new SimpleGroupFactory(schema);
        try (ParquetWriter<Group> file = ExampleParquetWriter.builder(new LocalOutputFile(path))
                .withType(schema)
                .withConf(new PlainParquetConfiguration())
                .withCompressionCodec(ParquetCodecs.name(codec))
                .withCodecFactory(new ParquetCodecs())
                .build()) {
            for (Object each : records) {
                Group group = groups.newGroup();
                for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
                    group.add(i, Entity.number((Entity) each, i));
                    group.add(Entity.FIELDS_OF_A_KIND + i, Entity.text((Entity) each, i));
                }
                file.write(group);
            }
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws IOException {
        try (ParquetReader<Group> file = new Reader(new LocalInputFile(path)).build()) {
            for (Group each; (each = file.read()) != null; ) {
                sink.accept(each);
            }
        }
    }

    @Override
    public Object plain(Object object) {
        Group group = (Group) object;
        Entity entity = new Entity();
        for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
            Entity.setNumber(entity, i, group.getInteger(i, 0));
            Entity.setText(entity, i, group.getString(Entity.FIELDS_OF_A_KIND + i, 0));
        }
        return entity;
    }

    @Override
    public void check(Class<?> type, Codec codec) throws UnsupportedException {
        UnsupportedException.unless(type == Entity.class, "its groups here are made for flat records");
    }

    private static MessageType schema() {
        Types.MessageTypeBuilder schema = Types.buildMessage();
        for (int i = 1; i <= Entity.FIELDS_OF_A_KIND; i++) {
            schema.required(PrimitiveTypeName.INT32).named("number" + i);
        }
        for (int i = 1; i <= Entity.FIELDS_OF_A_KIND; i++) {
            schema.required(PrimitiveTypeName.BINARY)
                    .as(LogicalTypeAnnotation.stringType())
                    .named("text" + i);
        }
        return schema.named("Entity");
    }

    private static final class Reader extends ParquetReader.Builder<Group> {
        Reader(InputFile file) {
            super(file, new PlainParquetConfiguration());
            withCodecFactory(new ParquetCodecs());
        }

        @Override
        protected ReadSupport<Group> getReadSupport() {
            return new GroupReadSupport();
        }
    }
}
