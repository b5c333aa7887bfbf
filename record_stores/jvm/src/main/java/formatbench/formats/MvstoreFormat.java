package formatbench.formats;

import formatbench.Codec;
import formatbench.Entity;
import formatbench.Format;
import formatbench.UnsupportedException;
import formatbench.WholeFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Consumer;
import org.h2.mvstore.Cursor;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.WriteBuffer;
import org.h2.mvstore.type.BasicDataType;
import org.h2.mvstore.type.LongDataType;
import org.h2.mvstore.type.StringDataType;

/** H2's MVStore: a B-tree by position, with a data type of its own, since its default one runs code. */
public class MvstoreFormat implements Format {
    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws Exception {
        try (WholeFile file = WholeFile.create(path, codec)) {
            try (MVStore store = new MVStore.Builder().fileName(file.plain().toString()).open()) {
                MVMap<Long, Entity> map = entities(store);
                long row = 0;
                for (Object each : records) {
                    map.append(row++, (Entity) each);
                }
            }
            file.compress();
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws Exception {
        try (WholeFile file = WholeFile.open(path, codec);
                MVStore store = reader(file)) {
            for (Cursor<Long, Entity> cursor = entities(store).cursor(null); cursor.hasNext(); ) {
                cursor.next();
                sink.accept(cursor.getValue());
            }
        }
    }

    @Override
    public Object entry(Class<?> type, Path path, Codec codec, long position) throws Exception {
        UnsupportedException.unless(codec == Codec.NONE, "the whole file would be decompressed");
        try (WholeFile file = WholeFile.open(path, codec);
                MVStore store = reader(file)) {
            Entity entity = entities(store).get(position);
            if (entity == null) {
                throw new NoSuchElementException("there is no record " + position);
            }
            return entity;
        }
    }

    @Override
    public void check(Class<?> type, Codec codec) throws UnsupportedException {
        UnsupportedException.unless(type == Entity.class, "its data type here is made for flat records");
    }

    private static MVStore reader(WholeFile file) {
        return new MVStore.Builder().fileName(file.plain().toString()).readOnly().open();
    }

    private static MVMap<Long, Entity> entities(MVStore store) {
        return store.openMap(
                "entities",
                new MVMap.Builder<Long, Entity>()
                        .keyType(LongDataType.INSTANCE)
                        .valueType(new EntityType()));
    }

    private static final class EntityType extends BasicDataType<Entity> {
        private static final int OBJECT_BYTES = 56;

        @Override
        public int getMemory(Entity entity) {
            int bytes = OBJECT_BYTES;
            for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
                bytes += StringDataType.INSTANCE.getMemory(Entity.text(entity, i));
            }
            return bytes;
        }

        @Override
        public void write(WriteBuffer buffer, Entity entity) {
            for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
                buffer.putInt(Entity.number(entity, i));
            }
            for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
                StringDataType.INSTANCE.write(buffer, Entity.text(entity, i));
            }
        }

        @Override
        public Entity read(ByteBuffer buffer) {
            Entity entity = new Entity();
            for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
                Entity.setNumber(entity, i, buffer.getInt());
            }
            for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
                Entity.setText(entity, i, StringDataType.INSTANCE.read(buffer));
            }
            return entity;
        }

        @Override
        public Entity[] createStorage(int size) {
            return new Entity[size];
        }
    }
}
