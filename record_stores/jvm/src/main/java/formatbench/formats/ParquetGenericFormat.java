package formatbench.formats;

import formatbench.Codec;
import formatbench.Format;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.parquet.avro.AvroParquetReader;
import org.apache.parquet.avro.AvroParquetWriter;
import org.apache.parquet.conf.ParquetConfiguration;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.hadoop.ParquetReader;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.LocalOutputFile;

/** Parquet through Avro's generic records, without Hadoop's file systems and configuration. */
public class ParquetGenericFormat implements Format {
    /** Option that Avro's library sets in a configuration of Hadoop alone. */
    private static final String READ_SCHEMA = "parquet.avro.read.schema";

    private final AvroGenericFormat avro;

    public ParquetGenericFormat() {
        this(new AvroGenericFormat());
    }

    /** Map records as a format of Avro does. */
    protected ParquetGenericFormat(AvroGenericFormat avro) {
        this.avro = avro;
    }

    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws IOException {
        Schema schema = avro.schema(type);
        GenericData model = avro.model(schema);
        try (ParquetWriter<Object> file = AvroParquetWriter.<Object>builder(new LocalOutputFile(path))
                .withSchema(schema)
                .withDataModel(model)
                .withConf(configuration())
                .withCompressionCodec(ParquetCodecs.name(codec))
                .withCodecFactory(new ParquetCodecs())
                .build()) {
            for (Object each : records) {
                file.write(avro.libraryRecord(each, schema, model));
            }
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws IOException {
        Schema schema = avro.schema(type);
        ParquetConfiguration configuration = configuration();
        // Else a file of an older type is read as records of its own schema.
        configuration.set(READ_SCHEMA, schema.toString());
        try (ParquetReader<Object> file =
                AvroParquetReader.<Object>builder(new LocalInputFile(path), configuration)
                        .withDataModel(avro.model(schema))
                        .withCodecFactory(new ParquetCodecs())
                        .build()) {
            for (Object each; (each = file.read()) != null; ) {
                sink.accept(each);
            }
        }
    }

    @Override
    public Object plain(Object object) {
        return avro.plain(object);
    }

    /** Return the options of writes and reads. */
    ParquetConfiguration configuration() {
        return new PlainParquetConfiguration();
    }
}
