package formatbench;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * SHA-256 over all fields of records, in their order.
 *
 * <p>docs/records_data.md specifies the bytes, the same in every language.
 */
public final class Digest {
    private static final int NULL_LENGTH = -1;
    private static final int BYTE_BITS = 8;
    private static final int MASK = 0xff;

    private final MessageDigest sha256;
    private final byte[] four = new byte[Integer.BYTES];
    private long rows;

    public Digest() {
        try {
            sha256 = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException("each JVM has SHA-256", error);
        }
    }

    /** Add a plain record. */
    public void add(Object record) {
        if (record instanceof Person person) {
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
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        add(bytes.length);
        sha256.update(bytes);
    }
}
