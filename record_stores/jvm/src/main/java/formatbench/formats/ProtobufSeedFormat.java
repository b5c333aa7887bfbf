package formatbench.formats;

import com.google.protobuf.Parser;
import formatbench.Codec;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** Protocol Buffers as in the published program: each message by itself, from and to unbuffered files. */
public class ProtobufSeedFormat extends ProtobufFormat {
    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws IOException {
        try (OutputStream output = codec.compressing(new FileOutputStream(path.toFile()))) {
            for (Object each : records) {
                message(each).writeDelimitedTo(output);
            }
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws IOException {
        try (InputStream input = codec.decompressing(new FileInputStream(path.toFile()))) {
            Parser<?> parser = parser(type);
            for (Object each; (each = parser.parseDelimitedFrom(input)) != null; ) {
                sink.accept(each);
            }
        }
    }
}
