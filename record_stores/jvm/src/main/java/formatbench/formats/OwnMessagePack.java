package formatbench.formats;

import formatbench.Codec;
import formatbench.Field;
import formatbench.OwnFormat;
import formatbench.RecordType;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/**
 * MessagePack, a sequence of arrays of the fields, packed by the kinds of a type that is given.
 *
 * <p>Times are of MessagePack's own type; decimals are texts, and symbols of enums their positions.
 */
public record OwnMessagePack(RecordType type) implements OwnFormat {
    @Override
    public void write(List<?> records, Class<?> maps, Path path, Codec codec) throws IOException {
        try (MessagePacker output = MessagePack.newDefaultPacker(codec.create(path))) {
            for (Object each : records) {
                pack(output, (Map<?, ?>) each, type);
            }
        }
    }

    @Override
    public void read(Class<?> maps, Path path, Codec codec, Consumer<Object> sink) throws IOException {
        try (MessageUnpacker input = MessagePack.newDefaultUnpacker(codec.open(path))) {
            while (input.hasNext()) {
                sink.accept(unpack(input, type));
            }
        }
    }

    @Override
    public Object plain(Object object) {
        return object;
    }

    private static void pack(MessagePacker output, Map<?, ?> record, RecordType of) throws IOException {
        output.packArrayHeader(of.fields().size());
        for (Field each : of.fields()) {
            pack(output, record.get(each.name()), each);
        }
    }

    private static void pack(MessagePacker output, Object value, Field of) throws IOException {
        if (value == null) {
            output.packNil();
            return;
        }
        switch (of.kind()) {
            case BOOL -> output.packBoolean((boolean) value);
            case INT32 -> output.packInt((int) value);
            case INT64 -> output.packLong((long) value);
            case FLOAT -> output.packFloat((float) value);
            case DOUBLE -> output.packDouble((double) value);
            case TEXT -> output.packString((String) value);
            case BYTES -> {
                output.packBinaryHeader(((byte[]) value).length);
                output.writePayload((byte[]) value);
            }
            case TIMESTAMP -> output.packTimestamp((Instant) value);
            case DECIMAL -> output.packString(value.toString());
            case ENUM -> output.packInt(of.symbols().indexOf(value));
            case RECORD -> pack(output, (Map<?, ?>) value, of.record());
            case LIST -> {
                output.packArrayHeader(((List<?>) value).size());
                for (Object each : (List<?>) value) {
                    pack(output, each, of.element());
                }
            }
            case MAP -> {
                output.packMapHeader(((Map<?, ?>) value).size());
                for (Map.Entry<?, ?> each : ((Map<?, ?>) value).entrySet()) {
                    output.packString((String) each.getKey());
                    pack(output, each.getValue(), of.element());
                }
            }
            case UNION -> packBranch(output, value);
        }
    }

    private static void packBranch(MessagePacker output, Object value) throws IOException {
        if (value instanceof Boolean truth) {
            output.packBoolean(truth);
        } else if (value instanceof Long number) {
            output.packLong(number);
        } else if (value instanceof Double number) {
            output.packDouble(number);
        } else {
            output.packString((String) value);
        }
    }

    private static Map<String, Object> unpack(MessageUnpacker input, RecordType of) throws IOException {
        if (input.unpackArrayHeader() != of.fields().size()) {
            throw new IOException("a record has another number of fields");
        }
        Map<String, Object> found = new LinkedHashMap<>();
        for (Field each : of.fields()) {
            found.put(each.name(), unpack(input, each));
        }
        return found;
    }

    private static Object unpack(MessageUnpacker input, Field of) throws IOException {
        if (of.isOptional() && input.tryUnpackNil()) {
            return null;
        }
        return switch (of.kind()) {
            case BOOL -> input.unpackBoolean();
            case INT32 -> input.unpackInt();
            case INT64 -> input.unpackLong();
            case FLOAT -> input.unpackFloat();
            case DOUBLE -> input.unpackDouble();
            case TEXT -> input.unpackString();
            case BYTES -> input.readPayload(input.unpackBinaryHeader());
            case TIMESTAMP -> input.unpackTimestamp();
            case DECIMAL -> new BigDecimal(input.unpackString());
            case ENUM -> of.symbols().get(input.unpackInt());
            case RECORD -> unpack(input, of.record());
            case LIST -> {
                int count = input.unpackArrayHeader();
                List<Object> items = new ArrayList<>(count);
                for (int i = 0; i < count; i++) {
                    items.add(unpack(input, of.element()));
                }
                yield items;
            }
            case MAP -> {
                Map<String, Object> entries = new LinkedHashMap<>();
                for (int left = input.unpackMapHeader(); left > 0; left--) {
                    String key = input.unpackString();
                    entries.put(key, unpack(input, of.element()));
                }
                yield entries;
            }
            case UNION -> switch (input.getNextFormat().getValueType()) {
                case BOOLEAN -> input.unpackBoolean();
                case INTEGER -> input.unpackLong();
                case FLOAT -> input.unpackDouble();
                default -> input.unpackString();
            };
        };
    }
}
