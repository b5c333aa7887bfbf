package formatbench.formats;

import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.Parser;
import formatbench.Reflected;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;

/** Records of a class that is not known here, as messages of the descriptor beside it. */
final class ProtobufDynamic {
    private ProtobufDynamic() {}

    static Parser<DynamicMessage> parser(Class<?> type) {
        return DynamicMessage.getDefaultInstance(descriptor(type)).getParserForType();
    }

    static DynamicMessage message(Object record) {
        DynamicMessage.Builder message = DynamicMessage.newBuilder(descriptor(record.getClass()));
        Map<String, Object> values = Reflected.values(record);
        for (FieldDescriptor each : message.getDescriptorForType().getFields()) {
            message.setField(each, values.get(each.getName()));
        }
        return message.build();
    }

    static Object plain(DynamicMessage message) {
        Descriptor descriptor = message.getDescriptorForType();
        return Reflected.make(
                Reflected.type(descriptor.getName()),
                name -> message.getField(descriptor.findFieldByName(name)));
    }

    private static Descriptor descriptor(Class<?> type) {
        String name = type.getSimpleName();
        try (InputStream input = type.getResourceAsStream(name + ".desc")) {
            if (input == null) {
                throw new IllegalArgumentException("there is no descriptor of " + name);
            }
            return FileDescriptor.buildFrom(FileDescriptorProto.parseFrom(input), new FileDescriptor[0])
                    .findMessageTypeByName(name);
        } catch (IOException | DescriptorValidationException error) {
            throw new IllegalArgumentException(error);
        }
    }
}
