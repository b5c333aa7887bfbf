package formatbench.formats;

import formatbench.Codec;
import formatbench.Entity;
import formatbench.UnsupportedException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.apache.avro.generic.IndexedRecord;

/** Avro with generated classes, whose equal texts are made one object while they are read. */
public class AvroSpecificInternFormat extends AvroSpecificFormat {
    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws IOException {
        super.read(type, path, codec, each -> {
            IndexedRecord record = (IndexedRecord) each;
            for (int i = Entity.FIELDS_OF_A_KIND; i < 2 * Entity.FIELDS_OF_A_KIND; i++) {
                record.put(i, ((String) record.get(i)).intern());
            }
            sink.accept(record);
        });
    }

    @Override
    public void check(Class<?> type, Codec codec) throws UnsupportedException {
        UnsupportedException.unless(type == Entity.class, "the texts of flat records are interned here");
    }
}
