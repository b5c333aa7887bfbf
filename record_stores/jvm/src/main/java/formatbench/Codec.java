package formatbench;

import com.github.luben.zstd.ZstdInputStream;
import com.github.luben.zstd.ZstdOutputStream;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/** Compression around a whole stream, each at its library's default level. */
public enum Codec {
    NONE,
    GZIP,
    ZSTD;

    /** Level of zstd in its own command, 3. */
    public static final int ZSTD_LEVEL = 3;

    private static final int BUFFER_BYTES = 1 << 16;

    /** Open a new file to write to, with a buffer in front of the codec. */
    public OutputStream create(Path path) throws IOException {
        return new BufferedOutputStream(compressing(Files.newOutputStream(path)), BUFFER_BYTES);
    }

    /** Open a file to read, with a buffer behind the codec. */
    public InputStream open(Path path) throws IOException {
        return new BufferedInputStream(decompressing(Files.newInputStream(path)), BUFFER_BYTES);
    }

    /** Wrap a stream, whose buffers are the caller's affair. */
    public OutputStream compressing(OutputStream stream) throws IOException {
        return switch (this) {
            case NONE -> stream;
            case GZIP -> new GZIPOutputStream(stream, BUFFER_BYTES);
            case ZSTD -> new ZstdOutputStream(stream, ZSTD_LEVEL);
        };
    }

    /** Unwrap a stream, whose buffers are the caller's affair. */
    public InputStream decompressing(InputStream stream) throws IOException {
        return switch (this) {
            case NONE -> stream;
            case GZIP -> new GZIPInputStream(stream, BUFFER_BYTES);
            case ZSTD -> new ZstdInputStream(stream);
        };
    }
}
