package formatbench.formats;

import formatbench.Codec;
import formatbench.Format;
import formatbench.Person;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.apache.fory.Fory;
import org.apache.fory.io.ForyInputStream;
import org.apache.fory.memory.MemoryBuffer;

/** Apache Fory's format across languages: the number of records, then each by itself. */
public class ForyFormat implements Format {
    private static final int BUFFER_BYTES = 1 << 16;
    private static final int FIRST_TYPE = 100;

    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws IOException {
        Fory fory = fory(type);
        MemoryBuffer buffer = MemoryBuffer.newHeapBuffer(BUFFER_BYTES);
        try (DataOutputStream output = new DataOutputStream(codec.create(path))) {
            output.writeInt(records.size());
            for (Object each : records) {
                fory.serialize(buffer, each);
                if (buffer.writerIndex() >= BUFFER_BYTES / 2) {
                    flush(buffer, output);
                }
            }
            flush(buffer, output);
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws IOException {
        Fory fory = fory(type);
        try (InputStream stream = codec.open(path)) {
            int rows = new DataInputStream(stream).readInt();
            ForyInputStream input = new ForyInputStream(stream, BUFFER_BYTES);
            for (int row = 0; row < rows; row++) {
                sink.accept(fory.deserialize(input, type));
            }
        }
    }

    private static Fory fory(Class<?> type) {
        Fory fory = Fory.builder().withXlang(true).withCompatible(false).build();
        fory.register(type, FIRST_TYPE);
        fory.register(Person.Status.class, FIRST_TYPE + 1);
        fory.register(Person.Address.class, FIRST_TYPE + 2);
        return fory;
    }

    private static void flush(MemoryBuffer buffer, DataOutputStream output) throws IOException {
        output.write(buffer.getHeapMemory(), 0, buffer.writerIndex());
        buffer.writerIndex(0);
    }
}
