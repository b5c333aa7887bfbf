package formatbench.formats;

import formatbench.Codec;
import formatbench.Entity;
import formatbench.Format;
import formatbench.UnsupportedException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/** MessagePack, a sequence of arrays of the fields, through msgpack-core. */
public class MessagePackFormat implements Format {
    private static final int FIELDS = 2 * Entity.FIELDS_OF_A_KIND;

    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws IOException {
        try (MessagePacker output = MessagePack.newDefaultPacker(codec.create(path))) {
            for (Object each : records) {
                Entity entity = (Entity) each;
                output.packArrayHeader(FIELDS);
                for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
                    output.packInt(Entity.number(entity, i));
                }
                for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
                    output.packString(Entity.text(entity, i));
                }
            }
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws IOException {
        try (MessageUnpacker input = MessagePack.newDefaultUnpacker(codec.open(path))) {
            while (input.hasNext()) {
                if (input.unpackArrayHeader() != FIELDS) {
                    throw new IOException("a record has another number of fields");
                }
                Entity entity = new Entity();
                for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
                    Entity.setNumber(entity, i, input.unpackInt());
                }
                for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
                    Entity.setText(entity, i, input.unpackString());
                }
                sink.accept(entity);
            }
        }
    }

    @Override
    public void check(Class<?> type, Codec codec) throws UnsupportedException {
        UnsupportedException.unless(type == Entity.class, "arrays of flat records are packed by hand here");
    }
}
