package formatbench.formats;

import formatbench.Codec;
import formatbench.Entity;
import formatbench.Format;
import formatbench.UnsupportedException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/** Stream of Apache Arrow: batches of columns, turned to objects row by row. */
public class ArrowFormat implements Format {
    private static final int BATCH_ROWS = 1 << 16;
    private static final int INT_BITS = 32;

    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws IOException {
        try (BufferAllocator allocator = new RootAllocator();
                VectorSchemaRoot root = VectorSchemaRoot.create(schema(), allocator);
                OutputStream stream = codec.create(path);
                ArrowStreamWriter output =
                        new ArrowStreamWriter(root, null, Channels.newChannel(stream))) {
            output.start();
            for (int first = 0; first < records.size(); first += BATCH_ROWS) {
                List<?> batch = records.subList(first, Math.min(first + BATCH_ROWS, records.size()));
                fill(root, batch);
                output.writeBatch();
            }
            output.end();
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws IOException {
        try (BufferAllocator allocator = new RootAllocator();
                InputStream stream = codec.open(path);
                ArrowStreamReader input = new ArrowStreamReader(stream, allocator)) {
            VectorSchemaRoot root = input.getVectorSchemaRoot();
            while (input.loadNextBatch()) {
                give(root, sink);
            }
        }
    }

    @Override
    public void check(Class<?> type, Codec codec) throws UnsupportedException {
        UnsupportedException.unless(type == Entity.class, "its columns here are made for flat records");
    }

    private static Schema schema() {
        List<Field> fields = new ArrayList<>();
        for (int i = 1; i <= Entity.FIELDS_OF_A_KIND; i++) {
            fields.add(Field.notNullable("number" + i, new ArrowType.Int(INT_BITS, true)));
        }
        for (int i = 1; i <= Entity.FIELDS_OF_A_KIND; i++) {
            fields.add(Field.notNullable("text" + i, ArrowType.Utf8.INSTANCE));
        }
        return new Schema(fields);
    }

    private static void fill(VectorSchemaRoot root, List<?> batch) {
        root.getFieldVectors().forEach(FieldVector::reset);
        for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
            IntVector numbers = (IntVector) root.getVector(i);
            VarCharVector texts = (VarCharVector) root.getVector(Entity.FIELDS_OF_A_KIND + i);
            numbers.allocateNew(batch.size());
            int row = 0;
            for (Object each : batch) {
                numbers.set(row, Entity.number((Entity) each, i));
                texts.setSafe(row++, Entity.text((Entity) each, i).getBytes(StandardCharsets.UTF_8));
            }
        }
        root.setRowCount(batch.size());
    }

    private static void give(VectorSchemaRoot root, Consumer<Object> sink) {
        IntVector[] numbers = new IntVector[Entity.FIELDS_OF_A_KIND];
        VarCharVector[] texts = new VarCharVector[Entity.FIELDS_OF_A_KIND];
        for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
            numbers[i] = (IntVector) root.getVector(i);
            texts[i] = (VarCharVector) root.getVector(Entity.FIELDS_OF_A_KIND + i);
        }
        for (int row = 0; row < root.getRowCount(); row++) {
            Entity entity = new Entity();
            for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
                Entity.setNumber(entity, i, numbers[i].get(row));
                Entity.setText(entity, i, new String(texts[i].get(row), StandardCharsets.UTF_8));
            }
            sink.accept(entity);
        }
    }
}
