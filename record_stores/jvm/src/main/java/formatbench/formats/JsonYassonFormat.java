package formatbench.formats;

import formatbench.Codec;
import formatbench.Format;
import jakarta.json.bind.Jsonb;
import jakarta.json.bind.JsonbBuilder;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** JSON, an object a line, through Yasson, the reference implementation of JSON-B. */
public class JsonYassonFormat implements Format {
    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws Exception {
        try (Jsonb jsonb = JsonbBuilder.create();
                BufferedWriter output = new BufferedWriter(
                        new OutputStreamWriter(codec.create(path), StandardCharsets.UTF_8))) {
            for (Object each : records) {
                output.write(jsonb.toJson(each, type));
                output.write('\n');
            }
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws Exception {
        try (Jsonb jsonb = JsonbBuilder.create();
                BufferedReader input = new BufferedReader(
                        new InputStreamReader(codec.open(path), StandardCharsets.UTF_8))) {
            for (String line; (line = input.readLine()) != null; ) {
                sink.accept(jsonb.fromJson(line, type));
            }
        }
    }
}
