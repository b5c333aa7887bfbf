package formatbench;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import org.apache.fory.annotation.Nullable;

/** Values that a program can put into a field, but which are not of its type. */
final class Values {
    /** Fields of each class that have objects for values; millions of records ask for them. */
    private static final ClassValue<List<Checked>> FIELDS = new ClassValue<>() {
        @Override
        protected List<Checked> computeValue(Class<?> type) {
            List<Checked> found = new ArrayList<>();
            for (Field each : type.getFields()) {
                if (!Modifier.isStatic(each.getModifiers()) && !each.getType().isPrimitive()) {
                    found.add(new Checked(each, each.getAnnotatedType().isAnnotationPresent(Nullable.class)));
                }
            }
            return found;
        }
    };

    private Values() {}

    /**
     * Check that all values are of the types of their fields, before anything is written.
     *
     * <p>Null is a value of fields with the annotation alone: some libraries crash on others, or write an
     * empty text. Texts have no lone surrogates: UTF-8 has none, and its encoders write "?" for them.
     *
     * @throws UnsupportedException with the record, the field and the value
     */
    static void check(List<?> records) throws UnsupportedException {
        for (int row = 0; row < records.size(); row++) {
            check(records.get(row), "the record " + row + ": ");
        }
    }

    private static void check(Object record, String place) throws UnsupportedException {
        for (Checked each : FIELDS.get(record.getClass())) {
            check(each.value(record), place + each.field().getName(), each.isNullable());
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
            for (int place = 0; place < items.size(); place++) {
                check(items.get(place), name + "[" + place + "]", false);
            }
        } else if (value instanceof Person.Address address) {
            check(address, name + ".");
        }
    }

    private static boolean hasLoneSurrogate(String text) {
        return text.codePoints()
                .anyMatch(each -> each >= Character.MIN_SURROGATE && each <= Character.MAX_SURROGATE);
    }

    /** Field whose values are checked. */
    private record Checked(Field field, boolean isNullable) {
        Object value(Object record) {
            try {
                return field.get(record);
            } catch (IllegalAccessException error) {
                throw new IllegalArgumentException(error);
            }
        }
    }
}
