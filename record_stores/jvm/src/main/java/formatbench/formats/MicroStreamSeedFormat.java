package formatbench.formats;

import formatbench.Codec;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import one.microstream.storage.embedded.types.EmbeddedStorage;
import one.microstream.storage.embedded.types.EmbeddedStorageManager;

/** MicroStream as in the published program: it collects and checks its own garbage after the write. */
public class MicroStreamSeedFormat extends MicroStreamFormat {
    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) {
        EmbeddedStorageManager storage = EmbeddedStorage.start(path);
        try {
            storage.setRoot(new ArrayList<>(records));
            storage.storeRoot();
            storage.issueFullGarbageCollection();
            storage.issueFullCacheCheck();
        } finally {
            storage.shutdown();
        }
    }
}
