package formatbench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;

/**
 * The calls that the driver times, under JMH, which warms up, repeats, times and consumes by its own rules.
 *
 * <p>The heap is collected before each call, as the driver does.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.SECONDS)
public class TimedCalls {
    @Param("kryo")
    public String format;

    @Param("none")
    public String codec;

    @Param("entities")
    public String dataset;

    /** Records to make and write; 0 for reads. */
    @Param("0")
    public int rows;

    /** File to write, or to read. */
    @Param("")
    public String path;

    private Request request;
    private Format store;
    private List<?> records;

    /** Processor time of the measured calls and their number, which JMH adds up. */
    @State(Scope.Thread)
    @AuxCounters(AuxCounters.Type.EVENTS)
    public static class Cpu {
        public double cpuSeconds;
        public long calls;

        private ProcessorTime since;

        /** Start after the collection, since JMH prepares the calls first. */
        @Setup(Level.Invocation)
        public void start(TimedCalls calls) {
            since = new ProcessorTime();
        }

        @TearDown(Level.Invocation)
        public void stop() {
            cpuSeconds += since.nanos() / 1e9;
            calls++;
        }
    }

    @Setup(Level.Trial)
    public void prepare() throws Exception {
        Codec chosen = Codec.valueOf(codec.toUpperCase(Locale.ROOT));
        request = new Request("", format, chosen, dataset, null, null, rows, Path.of(path), 1, 0, 0, 0);
        store = request.checkedFormat();
        records = store.ownObjects(request.givenRecords(), request.type());
    }

    @Setup(Level.Invocation)
    public void collect() throws IOException {
        if (rows > 0) {
            Main.remove(request.path());
        }
        System.gc();
    }

    @Benchmark
    public void write(Cpu cpu) throws Exception {
        store.write(records, request.type(), request.path(), request.codec());
    }

    @Benchmark
    public List<Object> read(Cpu cpu) throws Exception {
        List<Object> objects = new ArrayList<>();
        store.read(request.type(), request.path(), request.codec(), objects::add);
        return objects;
    }

    @Benchmark
    public void iterate(Cpu cpu, Blackhole blackhole) throws Exception {
        store.read(request.type(), request.path(), request.codec(), blackhole::consume);
    }
}
