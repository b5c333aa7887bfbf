package formatbench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON of the driver's protocol.
 *
 * <p>Written by hand since the libraries that do it are among those measured: their first call in a new
 * JVM would not be the first.
 */
final class Json {
    private final String text;
    private int position;

    private Json(String text) {
        this.text = text;
    }

    /** Parse a value: a map, a list, or a text, as which numbers and literals come, too. */
    static Object parse(String text) {
        return new Json(text).value();
    }

    /** Return a value as JSON: null, a truth value, a number, a list, a map, or else its text. */
    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        append(out, value);
        return out.toString();
    }

    private Object value() {
        return switch (next()) {
            case '{' -> object();
            case '[' -> list();
            case '"' -> string();
            default -> bare();
        };
    }

    private Map<String, Object> object() {
        Map<String, Object> found = new LinkedHashMap<>();
        expect('{');
        while (next() != '}') {
            String name = string();
            expect(':');
            found.put(name, value());
            skipComma();
        }
        expect('}');
        return found;
    }

    private List<Object> list() {
        List<Object> found = new ArrayList<>();
        expect('[');
        while (next() != ']') {
            found.add(value());
            skipComma();
        }
        expect(']');
        return found;
    }

    private void skipComma() {
        if (next() == ',') {
            position++;
        }
    }

    private char next() {
        while (position < text.length() && Character.isWhitespace(text.charAt(position))) {
            position++;
        }
        if (position == text.length()) {
            throw new IllegalArgumentException("the request ends early: " + text);
        }
        return text.charAt(position);
    }

    private void expect(char wanted) {
        if (next() != wanted) {
            throw new IllegalArgumentException(wanted + " is missing at " + position + ": " + text);
        }
        position++;
    }

    /** Return the text of a number, or of true, false or null. */
    private String bare() {
        int start = position;
        while (position < text.length() && "+-.E0123456789aeflnrstu".indexOf(text.charAt(position)) >= 0) {
            position++;
        }
        if (start == position) {
            throw new IllegalArgumentException("no text or number at " + position + ": " + text);
        }
        return text.substring(start, position);
    }

    private String string() {
        expect('"');
        StringBuilder out = new StringBuilder();
        for (char each; (each = text.charAt(position++)) != '"'; ) {
            if (each != '\\') {
                out.append(each);
                continue;
            }
            char escaped = text.charAt(position++);
            switch (escaped) {
                case 'u' -> {
                    out.append((char) Integer.parseInt(text.substring(position, position + 4), 16));
                    position += 4;
                }
                case 'n' -> out.append('\n');
                case 't' -> out.append('\t');
                case 'r' -> out.append('\r');
                case 'b' -> out.append('\b');
                case 'f' -> out.append('\f');
                default -> out.append(escaped);
            }
        }
        return out.toString();
    }

    private static void append(StringBuilder out, Object value) {
        if (value == null || value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else if (value instanceof Map<?, ?> map) {
            String separator = "{";
            for (Map.Entry<?, ?> each : map.entrySet()) {
                out.append(separator);
                append(out, each.getKey().toString());
                out.append(':');
                append(out, each.getValue());
                separator = ",";
            }
            out.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> list) {
            String separator = "[";
            for (Object each : list) {
                out.append(separator);
                append(out, each);
                separator = ",";
            }
            out.append(list.isEmpty() ? "[]" : "]");
        } else {
            quote(out, value.toString());
        }
    }

    private static void quote(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char each = text.charAt(i);
            if (each == '"' || each == '\\') {
                out.append('\\').append(each);
            } else if (each < ' ' || each > '~') {
                // Surrogates one by one, as JSON has it; so the output is ASCII in any locale.
                out.append(String.format("\\u%04x", (int) each));
            } else {
                out.append(each);
            }
        }
        out.append('"');
    }
}
