package formatbench;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * Field of a record whose type is given as data, or element of a list or map.
 *
 * @param name name of the field; of no meaning for an element
 * @param kind kind of the values
 * @param isOptional whether the value may be null
 * @param element values of a list or map, or null
 * @param record type of a nested record, or null
 * @param symbols names of the values of an enum, in order
 */
public record Field(
        String name,
        Kind kind,
        boolean isOptional,
        Field element,
        RecordType record,
        List<String> symbols) {
    /** Kind of the values of a field, with the class that they have in a record. */
    public enum Kind {
        BOOL(Boolean.class),
        INT32(Integer.class),
        INT64(Long.class),
        FLOAT(Float.class),
        DOUBLE(Double.class),
        TEXT(String.class),
        BYTES(byte[].class),
        TIMESTAMP(Instant.class),
        DECIMAL(BigDecimal.class),
        /** Its symbol: there is no class of the enum. */
        ENUM(String.class),
        RECORD(Map.class),
        LIST(List.class),
        MAP(Map.class),
        /** A boolean, a whole number, a float or a text. */
        UNION(Object.class);

        private final Class<?> made;

        Kind(Class<?> made) {
            this.made = made;
        }

        /** Return the class of the values. */
        public Class<?> made() {
            return made;
        }
    }

    /** Return a field without parts. */
    static Field of(Kind kind) {
        return new Field("", kind, false, null, null, List.of());
    }

    Field named(String other) {
        return new Field(other, kind, isOptional, element, record, symbols);
    }

    Field optional() {
        return new Field(name, kind, true, element, record, symbols);
    }
}
