package formatbench;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Processor time of all threads of the process since this was made.
 *
 * <p>The bean counts that of the process in hundredths of a second, by times(2); where Linux counts each
 * thread in nanoseconds, this is their sum. The number of a running thread is up to date there at its
 * ticks alone, so the calling thread is asked by its own clock.
 */
final class ProcessorTime {
    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final Path TASKS = Path.of("/proc/self/task");
    private static final Path THIS_TASK = Path.of("/proc/thread-self");

    private final long processNanos = PROCESS.getProcessCpuTime();
    private final long startedThreads = THREADS.getTotalStartedThreadCount();
    private final Map<String, Long> others = others();
    // Last, so that the reading of the others is not in it.
    private final long ownNanos = THREADS.getCurrentThreadCpuTime();

    /** Return the nanoseconds since this was made. */
    long nanos() {
        long own = THREADS.getCurrentThreadCpuTime() - ownNanos;
        Map<String, Long> now = others();
        // What threads have taken that have ended, only the process knows.
        if (others.isEmpty()
                || THREADS.getTotalStartedThreadCount() != startedThreads
                || !now.keySet().containsAll(others.keySet())) {
            return PROCESS.getProcessCpuTime() - processNanos;
        }
        return own + sum(now) - sum(others);
    }

    /** Return the nanoseconds of each thread but this one; none where they are not counted. */
    private static Map<String, Long> others() {
        if (Files.notExists(THIS_TASK)) {
            return Map.of();
        }
        Map<String, Long> found = new HashMap<>();
        try (Stream<Path> tasks = Files.list(TASKS)) {
            Path own = Files.readSymbolicLink(THIS_TASK).getFileName();
            for (Path each : tasks.filter(task -> !task.getFileName().equals(own)).toList()) {
                // Time on a processor, time of waiting for one, and turns.
                List<String> line = Files.readAllLines(each.resolve("schedstat"));
                found.put(each.getFileName().toString(), Long.parseLong(line.get(0).split(" ")[0]));
            }
        } catch (IOException | UncheckedIOException error) {
            // A thread has ended meanwhile, or the kernel keeps no such file.
            found.clear();
        }
        // A kernel without these statistics has zeros.
        return sum(found) == 0 ? Map.of() : found;
    }

    private static long sum(Map<String, Long> nanos) {
        return nanos.values().stream().mapToLong(Long::longValue).sum();
    }
}
