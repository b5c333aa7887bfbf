package formatbench.formats;

import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SequenceWriter;
import formatbench.Codec;
import formatbench.Format;
import java.io.InputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** JSON, an object a line, through Jackson's data binding. */
public class JsonJacksonFormat implements Format {
    private final ObjectMapper mapper;

    public JsonJacksonFormat() {
        this(new ObjectMapper());
    }

    /** Bind by a mapper, also one of a binary format. */
    protected JsonJacksonFormat(ObjectMapper mapper) {
        this.mapper = mapper;
    }

    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws IOException {
        try (OutputStream stream = codec.create(path);
                SequenceWriter output = mapper.writerFor(type)
                        .withRootValueSeparator(separator())
                        .writeValues(stream)) {
            output.writeAll(records);
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws IOException {
        try (InputStream stream = codec.open(path);
                MappingIterator<Object> input = mapper.readerFor(type).readValues(stream)) {
            while (input.hasNextValue()) {
                sink.accept(input.nextValue());
            }
        }
    }

    /** Return the text between two records. */
    protected String separator() {
        return "\n";
    }
}
