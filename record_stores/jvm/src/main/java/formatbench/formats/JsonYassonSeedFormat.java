package formatbench.formats;

import formatbench.Codec;
import jakarta.json.bind.Jsonb;
import jakarta.json.bind.JsonbBuilder;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** JSON through Yasson as in the published program: each record goes to an unbuffered file. */
public class JsonYassonSeedFormat extends JsonYassonFormat {
    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws Exception {
        try (Jsonb jsonb = JsonbBuilder.create();
                OutputStream output = codec.compressing(new FileOutputStream(path.toFile()))) {
            for (Object each : records) {
                output.write(jsonb.toJson(each).getBytes(StandardCharsets.UTF_8));
                output.write('\n');
            }
        }
    }
}
