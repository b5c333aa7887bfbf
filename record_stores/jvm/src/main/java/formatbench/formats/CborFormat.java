package formatbench.formats;

import com.fasterxml.jackson.dataformat.cbor.databind.CBORMapper;

/** CBOR, a sequence of maps, through Jackson's data binding. */
public class CborFormat extends JsonJacksonFormat {
    public CborFormat() {
        super(new CBORMapper(), null);
    }
}
