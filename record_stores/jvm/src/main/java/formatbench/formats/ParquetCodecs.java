package formatbench.formats;

import formatbench.Codec;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;

/** Codecs of Parquet's pages, since its own factory needs a configuration of Hadoop. */
final class ParquetCodecs implements CompressionCodecFactory {
    static CompressionCodecName name(Codec codec) {
        return switch (codec) {
            case NONE -> CompressionCodecName.UNCOMPRESSED;
            case GZIP -> CompressionCodecName.GZIP;
            case ZSTD -> CompressionCodecName.ZSTD;
        };
    }

    @Override
    public BytesInputCompressor getCompressor(CompressionCodecName name) {
        return new Compressor(name, codec(name));
    }

    @Override
    public BytesInputDecompressor getDecompressor(CompressionCodecName name) {
        return new Decompressor(codec(name));
    }

    @Override
    public void release() {}

    private static Codec codec(CompressionCodecName name) {
        return switch (name) {
            case UNCOMPRESSED -> Codec.NONE;
            case GZIP -> Codec.GZIP;
            case ZSTD -> Codec.ZSTD;
            default -> throw new IllegalArgumentException("there is no codec " + name + " here");
        };
    }

    private record Compressor(CompressionCodecName name, Codec codec) implements BytesInputCompressor {
        @Override
        public BytesInput compress(BytesInput page) throws IOException {
            if (codec == Codec.NONE) {
                return page;
            }
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (OutputStream output = codec.compressing(bytes)) {
                page.writeAllTo(output);
            }
            return BytesInput.from(bytes);
        }

        @Override
        public CompressionCodecName getCodecName() {
            return name;
        }

        @Override
        public void release() {}
    }

    private record Decompressor(Codec codec) implements BytesInputDecompressor {
        @Override
        public BytesInput decompress(BytesInput page, int size) throws IOException {
            return codec == Codec.NONE ? page : BytesInput.from(decompressed(page.toByteArray(), size));
        }

        @Override
        public void decompress(ByteBuffer page, int compressedSize, ByteBuffer output, int size)
                throws IOException {
            byte[] bytes = new byte[compressedSize];
            page.get(bytes);
            output.put(decompressed(bytes, size));
        }

        @Override
        public void release() {}

        private byte[] decompressed(byte[] page, int size) throws IOException {
            try (InputStream input = codec.decompressing(new ByteArrayInputStream(page))) {
                return input.readNBytes(size);
            }
        }
    }
}
