package formatbench;

import formatbench.Field.Kind;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * SHA-256 over all fields of records, in their order.
 *
 * <p>docs/records_data.md specifies the bytes, the same in every language.
 */
public final class Digest {
    private static final int NULL_LENGTH = -1;
    private static final int BYTE_BITS = 8;
    private static final int MASK = 0xff;

    private final RecordType type;
    private final MessageDigest sha256;
    private final byte[] four = new byte[Integer.BYTES];
    private long rows;

    /**
     * Start the digest of records.
     *
     * @param type type of records that are maps, or null for those of a class
     */
    public Digest(RecordType type) {
        this.type = type;
        try {
            sha256 = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException("each JVM has SHA-256", error);
        }
    }

    /** Add a plain record. */
    public void add(Object record) {
        if (type != null) {
            add((Map<?, ?>) record, type);
        } else if (record instanceof Person person) {
            addPerson(person);
        } else {
            addEntity((Entity) record);
        }
        rows++;
    }

    private void addEntity(Entity entity) {
        for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
            add(Entity.number(entity, i));
        }
        for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
            add(Entity.text(entity, i));
        }
    }

    private void addPerson(Person person) {
        add(person.id);
        add(person.name);
        add(person.nickname);
        if (isPresent(person.age)) {
            add(person.age.intValue());
        }
        add(person.status.ordinal());
        add(person.tags.size());
        person.tags.forEach(this::add);
        add(person.scores.size());
        person.scores.forEach(score -> add(score.intValue()));
        if (isPresent(person.address)) {
            add(person.address.street);
            add(person.address.number);
            add(person.address.city);
            add(person.address.postcode);
        }
    }

    private void add(Map<?, ?> record, RecordType of) {
        for (Field each : of.fields()) {
            add(record.get(each.name()), each);
        }
    }

    private void add(Object value, Field of) {
        if (hasLength(of.kind())) {
            if (value == null) {
                add(NULL_LENGTH);
                return;
            }
        } else if (hasPresence(of) && !isPresent(value)) {
            return;
        }
        switch (of.kind()) {
            case BOOL -> add((boolean) value);
            case INT32 -> add((int) value);
            case INT64 -> add((long) value);
            case FLOAT -> add((double) (float) value);
            case DOUBLE -> add((double) value);
            case TEXT -> add((String) value);
            case BYTES -> add((byte[]) value);
            case TIMESTAMP -> add(OwnFormat.micros((Instant) value));
            case DECIMAL -> add(((BigDecimal) value).toPlainString());
            case ENUM -> add(of.symbols().indexOf(value));
            case RECORD -> add((Map<?, ?>) value, of.record());
            case LIST -> {
                add(((List<?>) value).size());
                ((List<?>) value).forEach(each -> add(each, of.element()));
            }
            case MAP -> addEntries((Map<?, ?>) value, of.element());
            case UNION -> addBranch(value);
        }
    }

    private void addEntries(Map<?, ?> entries, Field element) {
        add(entries.size());
        // By code points, as UTF-8 has them; texts of Java compare by halves of surrogate pairs.
        entries.keySet().stream()
                .map(each -> ((String) each).getBytes(StandardCharsets.UTF_8))
                .sorted(Arrays::compareUnsigned)
                .forEach(key -> {
                    add(key);
                    add(entries.get(new String(key, StandardCharsets.UTF_8)), element);
                });
    }

    private void addBranch(Object value) {
        if (value instanceof Boolean truth) {
            sha256.update((byte) 0);
            add((boolean) truth);
        } else if (value instanceof Long number) {
            sha256.update((byte) 1);
            add((long) number);
        } else if (value instanceof Double number) {
            sha256.update((byte) 2);
            add((double) number);
        } else {
            sha256.update((byte) 3);
            add((String) value);
        }
    }

    /** Return whether a value of a kind begins with its length, which is -1 for null. */
    static boolean hasLength(Kind kind) {
        return switch (kind) {
            case TEXT, BYTES, DECIMAL, LIST, MAP -> true;
            default -> false;
        };
    }

    /** Return whether a value of another kind begins with a byte, which is 0 for null. */
    static boolean hasPresence(Field of) {
        return of.isOptional() || of.kind() == Kind.RECORD;
    }

    /** Add a byte that is 0 for null and 1 for a value, which follows. */
    private boolean isPresent(Object value) {
        sha256.update((byte) (value == null ? 0 : 1));
        return value != null;
    }

    /** Return the number of records added. */
    public long rows() {
        return rows;
    }

    /** Return the digest in hexadecimal, and start again. */
    public String hexadecimal() {
        return HexFormat.of().formatHex(sha256.digest());
    }

    private void add(int number) {
        for (int i = 0; i < Integer.BYTES; i++) {
            four[i] = (byte) (number >>> (BYTE_BITS * i) & MASK);
        }
        sha256.update(four);
    }

    private void add(String text) {
        if (text == null) {
            add(NULL_LENGTH);
            return;
        }
        add(text.getBytes(StandardCharsets.UTF_8));
    }

    private void add(byte[] bytes) {
        add(bytes.length);
        sha256.update(bytes);
    }

    private void add(boolean truth) {
        sha256.update((byte) (truth ? 1 : 0));
    }

    private void add(long number) {
        add((int) number);
        add((int) (number >>> Integer.SIZE));
    }

    private void add(double number) {
        add(Double.doubleToRawLongBits(number));
    }
}
