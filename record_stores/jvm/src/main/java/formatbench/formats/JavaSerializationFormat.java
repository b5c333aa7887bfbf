package formatbench.formats;

import formatbench.Codec;
import formatbench.Format;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** Serialization of Java, one stream: a text that is one object is written once. */
public class JavaSerializationFormat implements Format {
    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws Exception {
        try (ObjectOutputStream output = new ObjectOutputStream(codec.create(path))) {
            output.writeInt(records.size());
            for (Object each : records) {
                output.writeObject(each);
            }
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws Exception {
        try (ObjectInputStream input = new ObjectInputStream(codec.open(path))) {
            int rows = input.readInt();
            for (int row = 0; row < rows; row++) {
                sink.accept(type.cast(input.readObject()));
            }
        }
    }
}
