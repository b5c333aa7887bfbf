package formatbench.formats;

import com.fasterxml.jackson.dataformat.smile.databind.SmileMapper;

/** Smile, a sequence of objects in one document, through Jackson's data binding. */
public class SmileFormat extends JsonJacksonFormat {
    public SmileFormat() {
        super(new SmileMapper(), null);
    }
}
