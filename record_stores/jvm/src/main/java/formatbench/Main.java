package formatbench;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.openjdk.jol.info.GraphLayout;

/**
 * Driver of one JVM: requests and answers are lines of JSON.
 *
 * <p>A request is an object with the fields of {@link Request}; it is the only argument, or requests are
 * the lines of the standard input. The first answer is {@code ready}; the last one to each request is
 * {@code end}. Each call has an answer, and {@code warm-up} follows the last one. The class of the format
 * {@code avro-generic} is {@code formatbench.formats.AvroGenericFormat}.
 */
public final class Main {
    private static final Pattern JAR = Pattern.compile("(.+?)-(\\d.*)\\.jar");

    private final PrintStream answers;

    private Main(PrintStream answers) {
        this.answers = answers;
    }

    public static void main(String[] arguments) throws IOException {
        Main driver = new Main(System.out);
        // Some libraries log to the standard output.
        System.setOut(System.err);
        driver.describe();
        if (arguments.length > 0) {
            driver.serve(arguments[0]);
        } else {
            BufferedReader requests =
                    new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line; (line = requests.readLine()) != null; ) {
                driver.serve(line);
            }
        }
        // EclipseStore and MicroStream leave threads.
        System.exit(0);
    }

    private void serve(String line) {
        try {
            run(Request.parse(line));
        } catch (UnsupportedException error) {
            answer("unsupported", Map.of("sentence", error.getMessage()));
        } catch (OutOfMemoryError error) {
            // Those that the JVM throws itself, it exits for; libraries throw further ones.
            System.err.println(error);
            System.exit(Request.OUT_OF_MEMORY_STATUS);
        } catch (Exception | LinkageError | StackOverflowError error) {
            error.printStackTrace();
            Map<String, Object> facts = new LinkedHashMap<>();
            facts.put("type", error.getClass().getName());
            facts.put("sentence", String.valueOf(error.getMessage()));
            answer("error", facts);
        }
        answer("end", Map.of());
    }

    private void run(Request request) throws Exception {
        switch (request.operation()) {
            case "generate" -> generate(request);
            case "write" -> write(request);
            case "read" -> read(request);
            case "check" -> check(request);
            case "iterate" -> iterate(request);
            case "use" -> use(request);
            case "entry" -> entry(request);
            case "layout" -> layout(request);
            case "values" -> values(request);
            default -> throw new IllegalArgumentException("there is no operation " + request.operation());
        }
    }

    private void generate(Request request) throws IOException {
        Digest digest = request.newDigest();
        request.givenRecords().forEach(digest::add);
        answer(digest);
    }

    private void write(Request request) throws Exception {
        Format format = request.checkedFormat();
        List<?> given = request.givenRecords();
        Values.check(given);
        List<?> records = format.ownObjects(given, request.type());
        Calls calls = request.newCalls();
        while (calls.goOn()) {
            remove(request.path());
            System.gc();
            Clock clock = new Clock();
            format.write(records, request.type(), request.path(), request.codec());
            Map<String, Object> readings = clock.readings();
            Clock sync = new Clock();
            synchronise(request.path());
            readings.put("sync_seconds", sync.readings().get("wall_seconds"));
            answerCall(calls, readings);
        }
        answer("warm-up", calls.facts());
    }

    private void read(Request request) throws Exception {
        Format format = request.checkedFormat();
        Set<Thread> threads = Heap.threads();
        long before = Heap.settledBytes();
        Calls calls = request.newCalls();
        while (calls.goOn()) {
            System.gc();
            ArrayList<Object> objects = new ArrayList<>();
            Clock clock = new Clock();
            format.read(request.type(), request.path(), request.codec(), objects::add);
            answerCall(calls, clock.readings());
            if (calls.count() == 1) {
                Heap.awaitThreads(threads);
                answerHeap(objects, before);
            }
        }
        answer("warm-up", calls.facts());
        check(request);
    }

    /** Report the heap by the difference that dropping the objects makes. */
    private void answerHeap(ArrayList<Object> objects, long before) throws InterruptedException {
        // The list's spare places depend on its length, not on the format.
        objects.trimToSize();
        String type = objects.isEmpty() ? "" : objects.get(0).getClass().getSimpleName();
        long with = Heap.settledBytes();
        objects.clear();
        objects.trimToSize();
        long without = Heap.settledBytes();
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("held_bytes", with - without);
        facts.put("library_bytes", without - before);
        facts.put("class", type);
        answer("heap", facts);
    }

    private void check(Request request) throws Exception {
        Format format = request.checkedFormat();
        Digest digest = request.newDigest();
        List<String> losses = new ArrayList<>();
        format.read(request.type(), request.path(), request.codec(), each -> {
            if (digest.rows() == 0 && format instanceof OwnFormat own) {
                losses.addAll(own.losses(each));
            }
            digest.add(format.plain(each));
        });
        answer(digest);
        if (format instanceof OwnFormat) {
            answer("losses", Map.of("fields", losses));
        }
    }

    private void iterate(Request request) throws Exception {
        Format format = request.checkedFormat();
        Calls calls = request.newCalls();
        while (calls.goOn()) {
            System.gc();
            Sink sink = new Sink();
            Clock clock = new Clock();
            format.read(request.type(), request.path(), request.codec(), sink);
            Map<String, Object> readings = clock.readings();
            readings.put("rows", sink.rows());
            answerCall(calls, readings);
        }
        answer("warm-up", calls.facts());
    }

    /** Time the use of all fields of records in memory; lazy ones are decoded then. */
    private void use(Request request) throws Exception {
        Format format = request.checkedFormat();
        Calls calls = request.newCalls();
        while (calls.goOn()) {
            List<Object> objects = new ArrayList<>();
            format.read(request.type(), request.path(), request.codec(), objects::add);
            System.gc();
            long sum = 0;
            Clock clock = new Clock();
            for (Object each : objects) {
                sum += Fields.use(format.plain(each));
            }
            Map<String, Object> readings = clock.readings();
            // The compiler leaves out work without a result.
            readings.put("sum", sum);
            answerCall(calls, readings);
        }
        answer("warm-up", calls.facts());
    }

    private void entry(Request request) throws Exception {
        Format format = request.checkedFormat();
        Object entry = null;
        Calls calls = request.newCalls();
        while (calls.goOn()) {
            Clock clock = new Clock();
            entry = format.entry(request.type(), request.path(), request.codec(), request.position());
            answerCall(calls, clock.readings());
        }
        answer("warm-up", calls.facts());
        Digest digest = request.newDigest();
        digest.add(format.plain(entry));
        answer(digest);
    }

    /** Report the deep size of the objects by their layout, which takes minutes for millions of them. */
    private void layout(Request request) throws Exception {
        List<Object> objects = new ArrayList<>();
        request.checkedFormat().read(request.type(), request.path(), request.codec(), objects::add);
        long bytes = GraphLayout.parseInstance(objects.toArray()).totalSize();
        answer("layout", Map.of("deep_bytes", bytes, "rows", objects.size()));
    }

    /** Report the values of all fields of each record. */
    private void values(Request request) throws Exception {
        Format format = request.checkedFormat();
        List<Map<String, Object>> records = new ArrayList<>();
        format.read(
                request.type(),
                request.path(),
                request.codec(),
                each -> records.add(Reflected.values(format.plain(each))));
        answer("values", Map.of("records", records));
    }

    private void describe() {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("java", System.getProperty("java.version"));
        facts.put("vm", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
        facts.put("collector", ManagementFactory.getGarbageCollectorMXBeans().stream()
                .map(GarbageCollectorMXBean::getName)
                .toList());
        facts.put("flags", ManagementFactory.getRuntimeMXBean().getInputArguments());
        facts.put("heap_bytes", Runtime.getRuntime().maxMemory());
        facts.put("compressed_oops", ManagementFactory
                .getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                .getVMOption("UseCompressedOops")
                .getValue());
        facts.put("versions", versions());
        answer("ready", facts);
    }

    private static Map<String, String> versions() {
        Map<String, String> found = new TreeMap<>();
        for (String each : System.getProperty("java.class.path").split(System.getProperty("path.separator"))) {
            Matcher jar = JAR.matcher(Path.of(each).getFileName().toString());
            if (jar.matches()) {
                found.put(jar.group(1), jar.group(2));
            }
        }
        return found;
    }

    private void answerCall(Calls calls, Map<String, Object> readings) {
        calls.add(readings);
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("number", calls.count());
        facts.putAll(readings);
        answer("call", facts);
    }

    private void answer(Digest digest) {
        answer("check", Map.of("digest", digest.hexadecimal(), "rows", digest.rows()));
    }

    private void answer(String event, Map<String, ?> facts) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("event", event);
        line.putAll(facts);
        answers.println(Json.write(line));
        answers.flush();
    }

    private static void synchronise(Path path) throws IOException {
        try (Stream<Path> tree = Files.walk(path)) {
            for (Path each : tree.filter(Files::isRegularFile).toList()) {
                try (FileChannel file = FileChannel.open(each, StandardOpenOption.WRITE)) {
                    file.force(true);
                }
            }
        }
    }

    static void remove(Path path) throws IOException {
        if (Files.notExists(path)) {
            return;
        }
        try (Stream<Path> tree = Files.walk(path)) {
            for (Path each : tree.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }
}
