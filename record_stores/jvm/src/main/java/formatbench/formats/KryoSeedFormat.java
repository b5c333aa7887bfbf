package formatbench.formats;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import formatbench.Codec;
import formatbench.Format;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** Kryo as in the published program: each record asks the file for the bytes that are left. */
public class KryoSeedFormat implements Format {
    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws IOException {
        Kryo kryo = KryoFormat.kryo(type);
        try (Output output = new Output(codec.compressing(new FileOutputStream(path.toFile())))) {
            for (Object each : records) {
                kryo.writeObject(output, each);
            }
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws IOException {
        Kryo kryo = KryoFormat.kryo(type);
        try (Input input = new Input(codec.decompressing(new FileInputStream(path.toFile())))) {
            while (input.available() > 0) {
                sink.accept(kryo.readObject(input, type));
            }
        }
    }
}
