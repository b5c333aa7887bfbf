package formatbench.formats;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import formatbench.OwnFormat;
import formatbench.RecordType;
import java.math.BigDecimal;
import java.time.Instant;

/** JSON of maps through Jackson: times and decimals are texts, bytes are base64. */
public class OwnJsonJackson extends JsonJacksonFormat implements OwnFormat {
    private final RecordType type;

    public OwnJsonJackson(RecordType type) {
        this(type, new ObjectMapper(), "\n");
    }

    /** Write maps by a mapper, also one of a binary format, with a text between two records or null. */
    OwnJsonJackson(RecordType type, ObjectMapper mapper, String separator) {
        super(mapper.registerModule(texts()), separator);
        this.type = type;
    }

    @Override
    public RecordType type() {
        return type;
    }

    private static SimpleModule texts() {
        // Jackson itself has no form of times, and reads a decimal as a double.
        return new SimpleModule()
                .addSerializer(Instant.class, ToStringSerializer.instance)
                .addSerializer(BigDecimal.class, ToStringSerializer.instance);
    }
}
