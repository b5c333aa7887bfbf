package formatbench.formats;

import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONWriter;
import formatbench.Codec;
import formatbench.Format;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** JSON, an object a line, through fastjson2; type names in the text are ignored, its default. */
public class JsonFastjson2Format implements Format {
    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws IOException {
        try (OutputStream output = codec.create(path)) {
            for (Object each : records) {
                JSON.writeTo(output, each, JSONWriter.Feature.FieldBased);
                output.write('\n');
            }
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws IOException {
        try (InputStream input = codec.open(path)) {
            JSON.<Object>parseObject(input, StandardCharsets.UTF_8, '\n', type, sink);
        }
    }
}
