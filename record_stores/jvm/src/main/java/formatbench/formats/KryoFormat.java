package formatbench.formats;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import formatbench.Codec;
import formatbench.Format;
import formatbench.Person;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Kryo: the number of records, then each by the serializer of its fields. */
public class KryoFormat implements Format {
    private static final int BUFFER_BYTES = 1 << 16;

    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws IOException {
        Kryo kryo = registered(type);
        try (Output output = new Output(codec.create(path), BUFFER_BYTES)) {
            output.writeInt(records.size());
            for (Object each : records) {
                kryo.writeObject(output, each);
            }
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws IOException {
        Kryo kryo = registered(type);
        try (Input input = new Input(codec.open(path), BUFFER_BYTES)) {
            int rows = input.readInt();
            for (int row = 0; row < rows; row++) {
                sink.accept(kryo.readObject(input, type));
            }
        }
    }

    /** Return a new Kryo that knows the classes of the records. */
    Kryo registered(Class<?> type) {
        return kryo(type);
    }

    static Kryo kryo(Class<?> type) {
        Kryo kryo = new Kryo();
        kryo.register(type);
        kryo.register(ArrayList.class);
        kryo.register(Person.Status.class);
        kryo.register(Person.Address.class);
        return kryo;
    }
}
