package formatbench;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.LongFunction;

/** Data sets of records, the same as those of Python; docs/records_data.md specifies them. */
public final class Data {
    /** Examples of a class that tests put on the class path. */
    private static final String ITEMS = "items";

    private static final long SEED = 20240501;
    private static final int POOL = 10_000;
    private static final int LARGE_POOL = 300_000;
    private static final int LENGTHS = 20;
    private static final String LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    private static final int POOL_STREAM = 0;
    private static final int ENTITY_STREAM = 1;
    private static final int PERSON_STREAM = 2;
    private static final int TEXT_STREAM = 3;

    /** Words of the stream for each candidate of the pool, each entity and each person. */
    private static final int POOL_WORDS = 20;

    private static final int ENTITY_WORDS = 10;
    private static final int PERSON_WORDS = 32;

    /** Digits of a word with LETTERS for digits, words of a distinct text, and lengths beyond them. */
    private static final int WORD_DIGITS = 11;

    private static final int TEXT_WORDS = 2;
    private static final int MORE_LETTERS = 9;

    private static final int LONG_TEXT = 70_000;

    private static final int[] EDGE_NUMBERS = {
        0, 1, -1, 127, 128, -128, -129, 32767, -32768, 65536, 2147483647, -2147483648, 1000000007
    };

    private static final String[] EDGE_TEXTS = {
        "",
        " ",
        "a",
        "057",
        "null",
        "\u0000",
        "a\u0000b",
        "\u0301",
        "e\u0301",
        "\u00e9",
        "\u65e5\u672c\u8a9e",
        "\ud83d\ude00",
        "\udbff\udffd",
        "\ufeffx",
        "line\nbreak\r\n\ttab",
        "\"quoted\" \\ and 'single'",
        "</a>&amp;",
        "\u007f\u0080\u0085\u2028",
        "x".repeat(LONG_TEXT),
        "\ud83d\ude00\u0301".repeat(LONG_TEXT / 2),
    };

    private Data() {}

    /** Return the class of the records of a data set. */
    static Class<?> type(String name) {
        return switch (name) {
            case "entities-nested", "entities-nested-edge" -> Person.class;
            case ITEMS -> Reflected.typeOfExamples(Reflected.type("Item"));
            default -> Entity.class;
        };
    }

    /**
     * Return the first records of a data set.
     *
     * @throws IllegalArgumentException if there is no data set of that name
     */
    static List<?> records(String name, int rows) {
        return switch (name) {
            case "entities" -> list(rows, entities(copies(pool(POOL)), POOL));
            case "entities-shared" -> list(rows, entities(shared(pool(POOL)), POOL));
            case "entities-many-texts" -> list(rows, entities(copies(pool(LARGE_POOL)), LARGE_POOL));
            case "entities-distinct-texts" -> list(rows, distinct());
            case "entities-seed" -> published(rows);
            case "entities-nested" -> list(rows, persons(copies(pool(POOL))));
            case "entities-edge" -> list(rows, Data::edge);
            case "entities-nested-edge" -> list(rows, Data::edgePerson);
            case ITEMS -> Reflected.examples(Reflected.type("Item"));
            default -> throw new IllegalArgumentException("there is no data set " + name);
        };
    }

    private static <R> List<R> list(int rows, LongFunction<R> maker) {
        List<R> records = new ArrayList<>(rows);
        for (int row = 0; row < rows; row++) {
            records.add(maker.apply(row));
        }
        return records;
    }

    private static LongFunction<Entity> entities(Texts pool, int texts) {
        SplitMix words = new SplitMix(SEED, ENTITY_STREAM);
        return row -> {
            long first = row * ENTITY_WORDS;
            Entity entity = new Entity();
            for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
                Entity.setNumber(entity, i, words.number(first + i));
                int text = words.below(texts, first + Entity.FIELDS_OF_A_KIND + i);
                Entity.setText(entity, i, pool.text(text));
            }
            return entity;
        };
    }

    private static LongFunction<Entity> distinct() {
        SplitMix words = new SplitMix(SEED, ENTITY_STREAM);
        SplitMix texts = new SplitMix(SEED, TEXT_STREAM);
        return row -> {
            Entity entity = new Entity();
            for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
                Entity.setNumber(entity, i, words.number(row * ENTITY_WORDS + i));
                long first = TEXT_WORDS * (row * Entity.FIELDS_OF_A_KIND + i);
                int more = texts.below(MORE_LETTERS, first + 1);
                StringBuilder text = new StringBuilder(WORD_DIGITS + more);
                appendDigits(text, texts.word(first), WORD_DIGITS);
                appendDigits(text, texts.word(first + 1), more);
                Entity.setText(entity, i, text.toString());
            }
            return entity;
        };
    }

    /** Append the last digits of a word, the last one first. */
    private static void appendDigits(StringBuilder text, long word, int digits) {
        long left = word;
        for (int i = 0; i < digits; i++) {
            text.append(LETTERS.charAt((int) Long.remainderUnsigned(left, LETTERS.length())));
            left = Long.divideUnsigned(left, LETTERS.length());
        }
    }

    private static LongFunction<Person> persons(Texts pool) {
        SplitMix words = new SplitMix(SEED, PERSON_STREAM);
        return row -> {
            long first = row * PERSON_WORDS;
            LongFunction<String> text = word -> pool.text(words.below(POOL, first + word));
            Person person = new Person();
            person.id = (int) row;
            person.name = text.apply(0);
            person.nickname = words.below(4, first + 1) == 0 ? null : text.apply(2);
            person.age = words.below(4, first + 3) == 0 ? null : words.below(120, first + 4);
            person.status = Person.Status.values()[words.below(4, first + 5)];
            person.tags = list(words.below(5, first + 6), tag -> text.apply(7 + tag));
            person.scores = list(words.below(8, first + 11), score -> words.number(first + 12 + score));
            person.address = words.below(4, first + 19) == 0 ? null : address(words, first, text);
            return person;
        };
    }

    private static Person.Address address(SplitMix words, long first, LongFunction<String> text) {
        Person.Address address = new Person.Address();
        address.street = text.apply(20);
        address.number = words.below(1000, first + 21);
        address.city = text.apply(22);
        address.postcode = words.below(4, first + 23) == 0 ? null : text.apply(24);
        return address;
    }

    private static Entity edge(long row) {
        Entity entity = new Entity();
        for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
            Entity.setNumber(entity, i, edgeNumber(row + i));
            Entity.setText(entity, i, edgeText(row + i));
        }
        return entity;
    }

    private static Person edgePerson(long row) {
        Person person = new Person();
        person.id = edgeNumber(row);
        person.name = edgeText(row);
        person.nickname = row % 3 == 0 ? null : edgeText(row + 1);
        person.age = row % 3 == 1 ? null : edgeNumber(row + 1);
        person.status = Person.Status.values()[(int) (row % 4)];
        person.tags = list((int) (row % 4), tag -> edgeText(row + 2 + tag));
        person.scores = list((int) (row % 5), score -> edgeNumber(row + 2 + score));
        if (row % 4 != 2) {
            person.address = new Person.Address();
            person.address.street = edgeText(row + 5);
            person.address.number = edgeNumber(row + 7);
            person.address.city = edgeText(row + 6);
            person.address.postcode = row % 3 == 2 ? null : edgeText(row + 7);
        }
        return person;
    }

    private static int edgeNumber(long place) {
        return EDGE_NUMBERS[(int) (place % EDGE_NUMBERS.length)];
    }

    private static String edgeText(long place) {
        return EDGE_TEXTS[(int) (place % EDGE_TEXTS.length)];
    }

    private static List<String> pool(int texts) {
        SplitMix words = new SplitMix(SEED, POOL_STREAM);
        Set<String> found = new LinkedHashSet<>();
        for (long first = 0; found.size() < texts; first += POOL_WORDS) {
            StringBuilder text = new StringBuilder();
            int length = words.below(LENGTHS, first);
            for (int i = 0; i < length; i++) {
                text.append(LETTERS.charAt(words.below(LETTERS.length(), first + 1 + i)));
            }
            found.add(text.toString());
        }
        return List.copyOf(found);
    }

    /** Texts of a pool by their positions. */
    private interface Texts {
        String text(int position);
    }

    private static Texts shared(List<String> pool) {
        return pool::get;
    }

    /** Texts with characters of their own, which {@code new String(String)} would share. */
    private static Texts copies(List<String> pool) {
        List<byte[]> letters =
                pool.stream().map(each -> each.getBytes(StandardCharsets.ISO_8859_1)).toList();
        return position -> new String(letters.get(position), StandardCharsets.ISO_8859_1);
    }

    /**
     * Records of the published program: its texts are shared, not distinct, and 513 of them are empty.
     *
     * <p>Source: N. Ommer, QAware, 2021; the sequence gives the published sizes to the byte.
     */
    private static List<Entity> published(int rows) {
        Random random = new Random(42);
        String[] pool = new String[POOL];
        for (int i = 0; i < POOL; i++) {
            pool[i] = alphanumeric(random);
        }
        return list(rows, row -> {
            Entity entity = new Entity();
            for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
                Entity.setNumber(entity, i, random.nextInt());
            }
            for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
                Entity.setText(entity, i, pool[random.nextInt(POOL)]);
            }
            return entity;
        });
    }

    private static String alphanumeric(Random random) {
        int length = random.nextInt(LENGTHS);
        StringBuilder text = new StringBuilder(length);
        while (text.length() < length) {
            char letter = (char) ('0' + random.nextInt('z' - '0' + 1));
            if (LETTERS.indexOf(letter) >= 0) {
                text.append(letter);
            }
        }
        return text.toString();
    }
}
