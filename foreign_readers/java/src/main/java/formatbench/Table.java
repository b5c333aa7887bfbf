package formatbench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A table in canonical form.
 *
 * @param columns the columns
 * @param rows the values: null, booleans, strings and lists
 */
record Table(List<Type.Part> columns, List<List<Object>> rows) {
    private static final ObjectMapper JSON = new ObjectMapper();

    byte[] text() throws JsonProcessingException {
        List<Map<String, String>> names = new ArrayList<>();
        for (Type.Part each : columns) {
            Map<String, String> column = new LinkedHashMap<>();
            column.put("name", each.name());
            column.put("type", each.type().toString());
            names.add(column);
        }
        Map<String, Object> head = new LinkedHashMap<>();
        head.put("columns", names);
        head.put("rows", rows.size());
        StringBuilder text = new StringBuilder(JSON.writeValueAsString(head)).append('\n');
        for (List<Object> row : rows) {
            text.append(JSON.writeValueAsString(row)).append('\n');
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** What a reader prints for a file that it cannot read. */
    static byte[] error(String message) throws JsonProcessingException {
        return (JSON.writeValueAsString(Map.of("error", message)) + '\n').getBytes(StandardCharsets.UTF_8);
    }

    @SuppressWarnings("unchecked")
    static Table parse(byte[] text) {
        String[] lines = new String(text, StandardCharsets.UTF_8).split("\n");
        Map<String, Object> head = (Map<String, Object>) json(lines[0]);
        List<Type.Part> columns = new ArrayList<>();
        for (Map<String, String> each : (List<Map<String, String>>) head.get("columns")) {
            columns.add(new Type.Part(each.get("name"), Type.parse(each.get("type"))));
        }
        List<List<Object>> rows = new ArrayList<>();
        for (int line = 1; line < lines.length; line++) {
            rows.add((List<Object>) json(lines[line]));
        }
        return new Table(columns, rows);
    }

    static Object json(String text) {
        try {
            return JSON.readValue(text, Object.class);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
