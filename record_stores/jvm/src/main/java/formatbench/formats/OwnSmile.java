package formatbench.formats;

import com.fasterxml.jackson.dataformat.smile.databind.SmileMapper;
import formatbench.RecordType;

/** Smile of maps through Jackson: times and decimals are texts. */
public final class OwnSmile extends OwnJsonJackson {
    public OwnSmile(RecordType type) {
        super(type, new SmileMapper(), null);
    }
}
