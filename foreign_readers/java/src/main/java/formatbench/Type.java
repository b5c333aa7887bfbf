package formatbench;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A canonical type.
 *
 * @param name the name, e.g. "timestamp"
 * @param arguments precision and scale, or unit and zone
 * @param parts the types inside a list, a struct or a map, with the names of fields
 */
record Type(String name, List<String> arguments, List<Part> parts) {
    record Part(String name, Type type) {}

    static Type of(String name, Object... arguments) {
        List<String> texts = new ArrayList<>();
        for (Object each : arguments) {
            texts.add(each.toString());
        }
        return new Type(name, texts, List.of());
    }

    static Type list(Type element) {
        return new Type("list", List.of(), List.of(new Part("", element)));
    }

    static Type map(Type key, Type value) {
        return new Type("map", List.of(), List.of(new Part("", key), new Part("", value)));
    }

    static Type struct(List<Part> fields) {
        return new Type("struct", List.of(), fields);
    }

    /** Return the type of an instant, with or without a zone. */
    static Type timestamp(String unit, boolean isUtc) {
        return isUtc ? of("timestamp", unit, "UTC") : of("timestamp", unit);
    }

    String argument(int position) {
        return position < arguments.size() ? arguments.get(position) : "";
    }

    int number(int position) {
        return Integer.parseInt(argument(position));
    }

    Type part(int position) {
        return parts.get(position).type();
    }

    @Override
    public String toString() {
        if (name.equals("list") || name.equals("map") || name.equals("struct")) {
            return parts.stream().map(this::spelled).collect(Collectors.joining(", ", name + "<", ">"));
        }
        return arguments.isEmpty() ? name : name + "(" + String.join(", ", arguments) + ")";
    }

    private String spelled(Part part) {
        if (!name.equals("struct")) {
            return part.type().toString();
        }
        return '"' + new String(JsonStringEncoder.getInstance().quoteAsString(part.name())) + "\": " + part.type();
    }

    static Type parse(String text) {
        return new Parser(text).type();
    }

    /** A text that is read from left to right. */
    private static final class Parser {
        private final String text;
        private int place;

        Parser(String text) {
            this.text = text;
        }

        Type type() {
            int start = place;
            while (place < text.length() && Character.isLetterOrDigit(text.charAt(place))) {
                place++;
            }
            String name = text.substring(start, place);
            if (take('(')) {
                int end = text.indexOf(')', place);
                String inside = text.substring(place, end);
                place = end + 1;
                return new Type(name, List.of(inside.split(",\\s*")), List.of());
            }
            List<Part> parts = new ArrayList<>();
            if (take('<') && !take('>')) {
                do {
                    skipBlanks();
                    parts.add(new Part(name.equals("struct") ? label() : "", type()));
                } while (take(','));
                take('>');
            }
            return new Type(name, List.of(), parts);
        }

        /** Return a string of JSON and pass the colon after it. */
        private String label() {
            int start = place++;
            while (text.charAt(place) != '"') {
                place += text.charAt(place) == '\\' ? 2 : 1;
            }
            place++;
            String found = (String) Table.json(text.substring(start, place));
            take(':');
            skipBlanks();
            return found;
        }

        private boolean take(char wanted) {
            skipBlanks();
            boolean isThere = place < text.length() && text.charAt(place) == wanted;
            place += isThere ? 1 : 0;
            return isThere;
        }

        private void skipBlanks() {
            while (place < text.length() && text.charAt(place) == ' ') {
                place++;
            }
        }
    }
}
