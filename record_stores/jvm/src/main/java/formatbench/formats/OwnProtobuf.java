package formatbench.formats;

import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.MessageOptions;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.MessageLite;
import com.google.protobuf.Parser;
import formatbench.Field;
import formatbench.Field.Kind;
import formatbench.OwnFormat;
import formatbench.RecordType;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Protocol Buffers of messages whose descriptor is made of a type that is given.
 *
 * <p>Times are microseconds since 1970, decimals texts; fields have the numbers of their places.
 */
public final class OwnProtobuf extends ProtobufFormat implements OwnFormat {
    private static final int MAP_KEY = 1;
    private static final int MAP_VALUE = 2;

    private final RecordType type;
    private final Descriptor descriptor;

    public OwnProtobuf(RecordType type) throws DescriptorValidationException {
        this.type = type;
        DescriptorProto message = message("Record", type).build();
        FileDescriptorProto file =
                FileDescriptorProto.newBuilder().setSyntax("proto3").addMessageType(message).build();
        descriptor = FileDescriptor.buildFrom(file, new FileDescriptor[0]).findMessageTypeByName("Record");
    }

    @Override
    public RecordType type() {
        return type;
    }

    @Override
    Parser<?> parser(Class<?> maps) {
        return DynamicMessage.getDefaultInstance(descriptor).getParserForType();
    }

    @Override
    MessageLite message(Object record) {
        return message((Map<?, ?>) record, type, descriptor);
    }

    @Override
    public Object plain(Object object) {
        return OwnFormat.super.plain(object);
    }

    @Override
    public Object field(Object record, Field of) {
        DynamicMessage message = (DynamicMessage) record;
        FieldDescriptor field = message.getDescriptorForType().findFieldByName(of.name());
        if (field.hasPresence() && !message.hasField(field)) {
            return null;
        }
        Object value = message.getField(field);
        if (of.kind() == Kind.MAP) {
            Map<Object, Object> entries = new LinkedHashMap<>();
            for (Object each : (List<?>) value) {
                DynamicMessage entry = (DynamicMessage) each;
                Descriptor parts = entry.getDescriptorForType();
                Object one = entry.getField(parts.findFieldByNumber(MAP_VALUE));
                entries.put(entry.getField(parts.findFieldByNumber(MAP_KEY)), single(one, of.element()));
            }
            return entries;
        }
        if (of.kind() == Kind.LIST) {
            List<Object> items = new ArrayList<>();
            ((List<?>) value).forEach(each -> items.add(single(each, of.element())));
            return items;
        }
        return single(value, of);
    }

    private static Object single(Object value, Field of) {
        if (value instanceof EnumValueDescriptor symbol) {
            return of.symbols().get(symbol.getNumber());
        }
        return value instanceof ByteString bytes ? bytes.toByteArray() : value;
    }

    private static DynamicMessage message(Map<?, ?> record, RecordType of, Descriptor descriptor) {
        DynamicMessage.Builder message = DynamicMessage.newBuilder(descriptor);
        for (int i = 0; i < of.fields().size(); i++) {
            Field each = of.fields().get(i);
            FieldDescriptor field = descriptor.getFields().get(i);
            Object value = record.get(each.name());
            if (value instanceof Map<?, ?> entries && each.kind() == Kind.MAP) {
                entries.forEach((key, one) -> message.addRepeatedField(field, entry(key, one, each, field)));
            } else if (value instanceof List<?> items) {
                items.forEach(one -> message.addRepeatedField(field, value(one, each.element(), field)));
            } else if (value != null) {
                message.setField(field, value(value, each, field));
            }
        }
        return message.build();
    }

    private static DynamicMessage entry(Object key, Object value, Field of, FieldDescriptor field) {
        Descriptor entry = field.getMessageType();
        FieldDescriptor inner = entry.findFieldByNumber(MAP_VALUE);
        return DynamicMessage.newBuilder(entry)
                .setField(entry.findFieldByNumber(MAP_KEY), key)
                .setField(inner, value(value, of.element(), inner))
                .build();
    }

    private static Object value(Object value, Field of, FieldDescriptor field) {
        return switch (of.kind()) {
            case BYTES -> ByteString.copyFrom((byte[]) value);
            case TIMESTAMP -> OwnFormat.micros((Instant) value);
            case DECIMAL -> ((BigDecimal) value).toPlainString();
            case ENUM -> field.getEnumType().findValueByNumber(of.symbols().indexOf(value));
            case RECORD -> message((Map<?, ?>) value, of.record(), field.getMessageType());
            default -> value;
        };
    }

    /**
     * Return the descriptor of a message, within which those of its parts are.
     *
     * <p>Names of parts begin with "_", as no name of a field does.
     */
    private static DescriptorProto.Builder message(String name, RecordType of) {
        DescriptorProto.Builder message = DescriptorProto.newBuilder().setName(name);
        for (int i = 0; i < of.fields().size(); i++) {
            Field each = of.fields().get(i);
            FieldDescriptorProto.Builder field =
                    FieldDescriptorProto.newBuilder().setName(each.name()).setNumber(i + 1);
            if (each.kind() == Kind.MAP) {
                String entry = "_" + i;
                message.addNestedType(entry(entry, each.element()));
                field.setLabel(Label.LABEL_REPEATED).setType(Type.TYPE_MESSAGE).setTypeName(entry);
            } else if (each.kind() == Kind.LIST) {
                setType(field.setLabel(Label.LABEL_REPEATED), each.element(), message, "_" + i);
            } else {
                setType(field.setLabel(Label.LABEL_OPTIONAL), each, message, "_" + i);
                if (each.isOptional() && each.kind() != Kind.RECORD) {
                    // Presence of a value that is no message: a oneof of its own, as protoc makes it.
                    field.setProto3Optional(true).setOneofIndex(message.getOneofDeclCount());
                    message.addOneofDeclBuilder().setName("_of" + i);
                }
            }
            message.addField(field);
        }
        return message;
    }

    private static DescriptorProto entry(String name, Field value) {
        DescriptorProto.Builder entry = DescriptorProto.newBuilder()
                .setName(name)
                .setOptions(MessageOptions.newBuilder().setMapEntry(true));
        FieldDescriptorProto.Builder key = FieldDescriptorProto.newBuilder();
        key.setName("key").setNumber(MAP_KEY).setLabel(Label.LABEL_OPTIONAL).setType(Type.TYPE_STRING);
        FieldDescriptorProto.Builder field = FieldDescriptorProto.newBuilder();
        field.setName("value").setNumber(MAP_VALUE).setLabel(Label.LABEL_OPTIONAL);
        setType(field, value, entry, "_");
        return entry.addField(key).addField(field).build();
    }

    /** Set the type of a field; a message or an enum is declared within a message under a name. */
    private static void setType(
            FieldDescriptorProto.Builder field, Field of, DescriptorProto.Builder within, String name) {
        field.setType(switch (of.kind()) {
            case BOOL -> Type.TYPE_BOOL;
            case INT32 -> Type.TYPE_INT32;
            case INT64, TIMESTAMP -> Type.TYPE_INT64;
            case FLOAT -> Type.TYPE_FLOAT;
            case DOUBLE -> Type.TYPE_DOUBLE;
            case TEXT, DECIMAL -> Type.TYPE_STRING;
            case BYTES -> Type.TYPE_BYTES;
            case ENUM -> Type.TYPE_ENUM;
            case RECORD -> Type.TYPE_MESSAGE;
            default -> throw new IllegalArgumentException("Protobuf has no field of the kind " + of.kind());
        });
        if (of.kind() == Kind.RECORD) {
            within.addNestedType(message(name, of.record()));
            field.setTypeName(name);
        } else if (of.kind() == Kind.ENUM) {
            EnumDescriptorProto.Builder symbols = EnumDescriptorProto.newBuilder().setName(name);
            for (int i = 0; i < of.symbols().size(); i++) {
                // Symbols are names of the message around their enum.
                symbols.addValueBuilder().setName(name + "_" + of.symbols().get(i)).setNumber(i);
            }
            within.addEnumType(symbols);
            field.setTypeName(name);
        }
    }
}
