package formatbench.formats;

import com.fasterxml.jackson.dataformat.cbor.databind.CBORMapper;
import formatbench.RecordType;

/** CBOR of maps through Jackson: times and decimals are texts. */
public final class OwnCbor extends OwnJsonJackson {
    public OwnCbor(RecordType type) {
        super(type, new CBORMapper(), null);
    }
}
