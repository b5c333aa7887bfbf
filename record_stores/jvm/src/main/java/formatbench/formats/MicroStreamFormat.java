package formatbench.formats;

import formatbench.Codec;
import formatbench.Format;
import formatbench.UnsupportedException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import one.microstream.storage.embedded.types.EmbeddedStorage;
import one.microstream.storage.embedded.types.EmbeddedStorageManager;

/** MicroStream: the list of records as the root of a graph of objects, in a folder. */
public class MicroStreamFormat implements Format {
    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) {
        EmbeddedStorageManager storage = EmbeddedStorage.start(path);
        try {
            storage.setRoot(new ArrayList<>(records));
            storage.storeRoot();
        } finally {
            storage.shutdown();
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) {
        EmbeddedStorageManager storage = EmbeddedStorage.start(path);
        try {
            ((List<?>) storage.root()).forEach(each -> sink.accept(type.cast(each)));
        } finally {
            storage.shutdown();
        }
    }

    @Override
    public void check(Class<?> type, Codec codec) throws UnsupportedException {
        UnsupportedException.unless(codec == Codec.NONE, "it writes a folder, without a codec of its own");
    }
}
