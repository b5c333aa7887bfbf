package formatbench;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Records of a class that is not known here, by its public fields.
 *
 * <p>Tests of changed types put such a class on the class path. The records that are measured are not
 * read or written by reflection.
 */
public final class Reflected {
    private Reflected() {}

    /** Return the class of records with a simple name. */
    public static Class<?> type(String name) {
        try {
            return Class.forName(Reflected.class.getPackageName() + "." + name);
        } catch (ClassNotFoundException error) {
            throw new IllegalArgumentException("there is no class of records " + name, error);
        }
    }

    /** Return the records that a class has as examples. */
    static List<?> examples(Class<?> type) {
        try {
            return (List<?>) type.getMethod("examples").invoke(null);
        } catch (ReflectiveOperationException error) {
            throw new IllegalArgumentException(type + " has no examples", error);
        }
    }

    /** Return the class of the examples of a class, which is that class itself if it has none. */
    static Class<?> typeOfExamples(Class<?> type) {
        List<?> found = examples(type);
        return found.isEmpty() ? type : found.get(0).getClass();
    }

    /** Return the values of all fields by their names. */
    public static Map<String, Object> values(Object record) {
        Map<String, Object> found = new LinkedHashMap<>();
        try {
            for (Field each : record.getClass().getFields()) {
                if (!Modifier.isStatic(each.getModifiers())) {
                    found.put(each.getName(), each.get(record));
                }
            }
        } catch (IllegalAccessException error) {
            throw new IllegalArgumentException(error);
        }
        return found;
    }

    /** Make a record of a class, with values by the names of its fields. */
    public static Object make(Class<?> type, Function<String, Object> value) {
        try {
            Object record = type.getDeclaredConstructor().newInstance();
            for (Field each : type.getFields()) {
                if (!Modifier.isStatic(each.getModifiers())) {
                    each.set(record, value.apply(each.getName()));
                }
            }
            return record;
        } catch (ReflectiveOperationException error) {
            throw new IllegalArgumentException(error);
        }
    }
}
