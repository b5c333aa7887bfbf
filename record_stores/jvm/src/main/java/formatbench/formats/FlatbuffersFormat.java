package formatbench.formats;

import com.google.flatbuffers.FlatBufferBuilder;
import com.google.flatbuffers.Table;
import formatbench.Codec;
import formatbench.Entity;
import formatbench.Format;
import formatbench.UnsupportedException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/**
 * FlatBuffers: tables with their sizes in front, read as views of the bytes of the whole file.
 *
 * <p>There is no generator in Maven's repositories; what one would generate is the class of the view.
 */
public class FlatbuffersFormat implements Format {
    private static final int FIELDS = 2 * Entity.FIELDS_OF_A_KIND;
    private static final int BUFFER_BYTES = 1 << 10;

    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws IOException {
        FlatBufferBuilder builder = new FlatBufferBuilder(BUFFER_BYTES);
        int[] texts = new int[Entity.FIELDS_OF_A_KIND];
        try (OutputStream output = codec.create(path)) {
            for (Object each : records) {
                Entity entity = (Entity) each;
                builder.clear();
                for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
                    texts[i] = builder.createString(Entity.text(entity, i));
                }
                builder.startTable(FIELDS);
                for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
                    builder.addInt(i, Entity.number(entity, i), 0);
                    builder.addOffset(Entity.FIELDS_OF_A_KIND + i, texts[i], 0);
                }
                builder.finishSizePrefixed(builder.endTable());
                ByteBuffer bytes = builder.dataBuffer();
                output.write(bytes.array(), bytes.arrayOffset() + bytes.position(), bytes.remaining());
            }
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws IOException {
        ByteBuffer bytes;
        try (InputStream input = codec.open(path)) {
            bytes = ByteBuffer.wrap(input.readAllBytes()).order(ByteOrder.LITTLE_ENDIAN);
        }
        int position = 0;
        while (position < bytes.limit()) {
            int table = position + Integer.BYTES;
            if (table > bytes.limit() || bytes.getInt(position) > bytes.limit() - table) {
                throw new EOFException("the file ends within a table");
            }
            sink.accept(new EntityTable(bytes, table + bytes.getInt(table)));
            position = table + bytes.getInt(position);
        }
    }

    @Override
    public Object plain(Object object) {
        EntityTable table = (EntityTable) object;
        Entity entity = new Entity();
        for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
            Entity.setNumber(entity, i, table.number(i));
            Entity.setText(entity, i, table.text(i));
        }
        return entity;
    }

    @Override
    public void check(Class<?> type, Codec codec) throws UnsupportedException {
        UnsupportedException.unless(type == Entity.class, "its tables here are made for flat records");
    }

    /** View of a table. */
    private static final class EntityTable extends Table {
        /** Offset of the first field in the table of offsets, after two sizes. */
        private static final int FIRST_FIELD = 4;

        EntityTable(ByteBuffer bytes, int position) {
            __reset(position, bytes);
        }

        int number(int field) {
            int offset = __offset(FIRST_FIELD + Short.BYTES * field);
            // Fields at their default, 0, are not written.
            return offset == 0 ? 0 : bb.getInt(offset + bb_pos);
        }

        String text(int number) {
            int offset = __offset(FIRST_FIELD + Short.BYTES * (Entity.FIELDS_OF_A_KIND + number));
            return offset == 0 ? null : __string(offset + bb_pos);
        }
    }
}
