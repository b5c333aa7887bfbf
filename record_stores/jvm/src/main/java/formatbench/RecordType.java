package formatbench;

import formatbench.Field.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Type of records that is given as data, which no class has.
 *
 * <p>Such a record is a map of its fields' names, in their order.
 *
 * @param schema Avro schema of the type in JSON; empty for a nested type
 * @param fields fields in order
 */
public record RecordType(String schema, List<Field> fields) {
    private static final Map<String, Kind> PRIMITIVE = Map.of(
            "boolean", Kind.BOOL,
            "int", Kind.INT32,
            "long", Kind.INT64,
            "float", Kind.FLOAT,
            "double", Kind.DOUBLE,
            "string", Kind.TEXT,
            "bytes", Kind.BYTES);

    /** Return the type of an Avro schema, as Python's part of this project writes it. */
    static RecordType parse(String schema) {
        return new RecordType(schema, field(Json.parse(schema), new HashMap<>()).record().fields());
    }

    private static Field field(Object schema, Map<String, Field> known) {
        if (schema instanceof List<?> branches) {
            return union(branches, known);
        }
        if (schema instanceof Map<?, ?> map) {
            return constructed(map, known);
        }
        Kind kind = PRIMITIVE.get(schema);
        return kind == null ? known.get(schema) : Field.of(kind);
    }

    private static Field union(List<?> branches, Map<String, Field> known) {
        List<?> others = branches.stream().filter(each -> !each.equals("null")).toList();
        Field found = others.size() == 1 ? field(others.get(0), known) : Field.of(Kind.UNION);
        return others.size() == branches.size() ? found : found.optional();
    }

    private static Field constructed(Map<?, ?> schema, Map<String, Field> known) {
        String type = (String) schema.get("type");
        String logical = (String) schema.get("logicalType");
        Field found = switch (type) {
            case "record" -> new Field("", Kind.RECORD, false, null, record(schema, known), List.of());
            case "enum" -> new Field("", Kind.ENUM, false, null, null, texts(schema.get("symbols")));
            case "array" -> new Field(
                    "", Kind.LIST, false, field(schema.get("items"), known), null, List.of());
            case "map" -> new Field(
                    "", Kind.MAP, false, field(schema.get("values"), known), null, List.of());
            default -> {
                if ("timestamp-micros".equals(logical)) {
                    yield Field.of(Kind.TIMESTAMP);
                }
                if ("decimal".equals(logical)) {
                    yield Field.of(Kind.DECIMAL);
                }
                yield field(type, known);
            }
        };
        if (schema.get("name") instanceof String name) {
            known.put(name, found);
        }
        return found;
    }

    private static RecordType record(Map<?, ?> schema, Map<String, Field> known) {
        List<Field> found = new ArrayList<>();
        for (Object each : (List<?>) schema.get("fields")) {
            Map<?, ?> given = (Map<?, ?>) each;
            found.add(field(given.get("type"), known).named((String) given.get("name")));
        }
        return new RecordType("", found);
    }

    private static List<String> texts(Object values) {
        return ((List<?>) values).stream().map(String.class::cast).collect(Collectors.toList());
    }
}
