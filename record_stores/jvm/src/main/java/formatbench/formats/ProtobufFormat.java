package formatbench.formats;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.MessageLite;
import com.google.protobuf.Parser;
import formatbench.Codec;
import formatbench.Entity;
import formatbench.Format;
import formatbench.Person;
import formatbench.protobuf.EntityMessage;
import formatbench.protobuf.PersonMessage;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** Protocol Buffers: delimited messages through one buffer. */
public class ProtobufFormat implements Format {
    private static final int BUFFER_BYTES = 1 << 16;

    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws IOException {
        try (OutputStream stream = codec.create(path)) {
            CodedOutputStream output = CodedOutputStream.newInstance(stream, BUFFER_BYTES);
            for (Object each : records) {
                MessageLite message = message(each);
                output.writeUInt32NoTag(message.getSerializedSize());
                message.writeTo(output);
            }
            output.flush();
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws IOException {
        try (InputStream stream = codec.open(path)) {
            Parser<?> parser = parser(type);
            CodedInputStream input = CodedInputStream.newInstance(stream, BUFFER_BYTES);
            while (!input.isAtEnd()) {
                int limit = input.pushLimit(input.readRawVarint32());
                sink.accept(parser.parseFrom(input));
                // A message is complete for the parser wherever the file ends between two fields.
                if (input.getBytesUntilLimit() != 0) {
                    throw new EOFException("the file ends within a message");
                }
                input.popLimit(limit);
                // The limit of 2 GiB is one of a message, not of the file.
                input.resetSizeCounter();
            }
        }
    }

    @Override
    public Object plain(Object object) {
        if (object instanceof PersonMessage message) {
            return ProtobufPersons.plain(message);
        }
        if (object instanceof DynamicMessage message) {
            return ProtobufDynamic.plain(message);
        }
        EntityMessage message = (EntityMessage) object;
        Entity entity = new Entity();
        entity.number1 = message.getNumber1();
        entity.number2 = message.getNumber2();
        entity.number3 = message.getNumber3();
        entity.number4 = message.getNumber4();
        entity.number5 = message.getNumber5();
        entity.text1 = message.getText1();
        entity.text2 = message.getText2();
        entity.text3 = message.getText3();
        entity.text4 = message.getText4();
        entity.text5 = message.getText5();
        return entity;
    }

    /** Return the parser of the messages of a type. */
    Parser<?> parser(Class<?> type) {
        if (type == Entity.class) {
            return EntityMessage.parser();
        }
        return type == Person.class ? PersonMessage.parser() : ProtobufDynamic.parser(type);
    }

    /** Return the message of a record. */
    MessageLite message(Object record) {
        if (record instanceof Person person) {
            return ProtobufPersons.message(person);
        }
        if (!(record instanceof Entity entity)) {
            return ProtobufDynamic.message(record);
        }
        return EntityMessage.newBuilder()
                .setNumber1(entity.number1)
                .setNumber2(entity.number2)
                .setNumber3(entity.number3)
                .setNumber4(entity.number4)
                .setNumber5(entity.number5)
                .setText1(entity.text1)
                .setText2(entity.text2)
                .setText3(entity.text3)
                .setText4(entity.text4)
                .setText5(entity.text5)
                .build();
    }
}
