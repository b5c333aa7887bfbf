package formatbench.formats;

import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.SequenceWriter;
import formatbench.Codec;
import formatbench.Format;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** JSON, an object a line, through Jackson's data binding. */
public class JsonJacksonFormat implements Format {
    private final ObjectWriter writer;
    private final ObjectReader reader;

    public JsonJacksonFormat() {
        this(new ObjectMapper(), "\n");
    }

    /** Bind by a mapper, also one of a binary format, with a text between two records or null. */
    protected JsonJacksonFormat(ObjectMapper mapper, String separator) {
        reader = mapper.reader();
        writer = separator == null ? mapper.writer() : mapper.writer().withRootValueSeparator(separator);
    }

    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws IOException {
        try (OutputStream stream = codec.create(path);
                SequenceWriter output = writer.forType(type).writeValues(stream)) {
            output.writeAll(records);
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws IOException {
        try (InputStream stream = codec.open(path);
                MappingIterator<Object> input = reader.forType(type).readValues(stream)) {
            while (input.hasNextValue()) {
                sink.accept(input.nextValue());
            }
        }
    }
}
