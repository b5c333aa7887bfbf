package formatbench;

import com.sun.management.ThreadMXBean;
import java.lang.management.CompilationMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Wall clock, processor time of the process, time in collections and of the compiler, and bytes that this
 * thread allocates.
 */
final class Clock {
    private static final double NANOS = 1e9;
    private static final double MILLIS = 1e3;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();

    private final long collectionMillis = collectionMillis();
    private final long compilationMillis = COMPILER.getTotalCompilationTime();
    private final ProcessorTime processorTime = new ProcessorTime();
    private final long allocatedBytes = THREADS.getCurrentThreadAllocatedBytes();
    private final long wallNanos = System.nanoTime();

    /** Return the readings since this clock was made. */
    Map<String, Object> readings() {
        long wall = System.nanoTime() - wallNanos;
        long allocated = THREADS.getCurrentThreadAllocatedBytes() - allocatedBytes;
        long cpu = processorTime.nanos();
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("wall_seconds", wall / NANOS);
        found.put("cpu_seconds", cpu / NANOS);
        found.put("gc_seconds", (collectionMillis() - collectionMillis) / MILLIS);
        found.put("compiler_seconds", (COMPILER.getTotalCompilationTime() - compilationMillis) / MILLIS);
        found.put("allocated_bytes", allocated);
        return found;
    }

    private static long collectionMillis() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionTime)
                .sum();
    }
}
