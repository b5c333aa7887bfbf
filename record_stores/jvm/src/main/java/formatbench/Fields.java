package formatbench;

import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** Use of each field of a record, once. */
final class Fields {
    private Fields() {}

    /** Return the sum of all numbers and lengths of texts, which needs every value. */
    static long use(Object record) {
        if (record instanceof Map<?, ?>) {
            return ofValue(record);
        }
        return record instanceof Person person ? sum(person) : sum((Entity) record);
    }

    /** Return the sum of a value of a record that is a map, and of all within. */
    private static long ofValue(Object value) {
        if (value instanceof Map<?, ?> entries) {
            return ofValues(entries.values());
        }
        if (value instanceof List<?> items) {
            return ofValues(items);
        }
        if (value instanceof byte[] bytes) {
            return bytes.length;
        }
        if (value instanceof Instant time) {
            return time.getEpochSecond();
        }
        if (value instanceof Boolean truth) {
            return truth ? 1 : 0;
        }
        return value instanceof Number number ? number.longValue() : length((String) value);
    }

    private static long ofValues(Collection<?> values) {
        long sum = 0;
        for (Object each : values) {
            sum += ofValue(each);
        }
        return sum;
    }

    private static long sum(Entity entity) {
        long sum = 0;
        for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
            sum += Entity.number(entity, i) + length(Entity.text(entity, i));
        }
        return sum;
    }

    private static long sum(Person person) {
        long sum = person.id + length(person.name) + length(person.nickname) + person.status.ordinal();
        sum += person.age == null ? 0 : person.age;
        for (String tag : person.tags) {
            sum += length(tag);
        }
        for (int score : person.scores) {
            sum += score;
        }
        Person.Address address = person.address;
        if (address != null) {
            sum += length(address.street) + address.number + length(address.city);
            sum += length(address.postcode);
        }
        return sum;
    }

    private static long length(String text) {
        return text == null ? 0 : text.length();
    }
}
