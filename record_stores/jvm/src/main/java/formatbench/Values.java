package formatbench;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.List;

/** Values that a program can put into a field, but which are not of its type. */
final class Values {
    private Values() {}

    /**
     * Check that all values are of the types of their fields, before anything is written.
     *
     * <p>Null is a value of fields of {@link Person} alone, which data sets make: some libraries crash on
     * others, or write an empty text. Texts have no lone surrogates: UTF-8 has none, and its encoders write "?" for them.
     *
     * @throws UnsupportedException with the record, the field and the value
     */
    static void check(List<?> records) throws UnsupportedException {
        for (int row = 0; row < records.size(); row++) {
            check(records.get(row), "the record " + row + ": ");
        }
    }

    private static void check(Object record, String place) throws UnsupportedException {
        for (Field each : record.getClass().getFields()) {
            if (!Modifier.isStatic(each.getModifiers()) && !each.getType().isPrimitive()) {
                boolean isNullable = record instanceof Person || record instanceof Person.Address;
                check(valueOf(each, record), place + each.getName(), isNullable);
            }
        }
    }

    private static void check(Object value, String name, boolean isNullable)
            throws UnsupportedException {
        if (value == null) {
            UnsupportedException.unless(isNullable, name + " is null, which its type does not have");
        } else if (value instanceof String text) {
            String reason = " has half a character, a lone surrogate, which UTF-8 cannot hold";
            UnsupportedException.unless(!hasLoneSurrogate(text), name + reason);
        } else if (value instanceof List<?> items) {
            for (Object item : items) {
                check(item, name, false);
            }
        } else if (value instanceof Person.Address address) {
            check(address, name + ".");
        }
    }

    private static boolean hasLoneSurrogate(String text) {
        return text.codePoints()
                .anyMatch(each -> each >= Character.MIN_SURROGATE && each <= Character.MAX_SURROGATE);
    }

    private static Object valueOf(Field field, Object record) {
        try {
            return field.get(record);
        } catch (IllegalAccessException error) {
            throw new IllegalArgumentException(error);
        }
    }
}
