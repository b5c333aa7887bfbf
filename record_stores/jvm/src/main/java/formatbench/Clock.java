package formatbench;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;

/** Wall clock, processor time of the process, time in collections, and bytes that this thread allocates. */
final class Clock {
    private static final double NANOS = 1e9;
    private static final double MILLIS = 1e3;
    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final long collectionMillis = collectionMillis();
    private final long allocatedBytes = THREADS.getCurrentThreadAllocatedBytes();
    private final long cpuNanos = PROCESS.getProcessCpuTime();
    private final long wallNanos = System.nanoTime();

    /** Return the readings since this clock was made. */
    Map<String, Object> readings() {
        long wall = System.nanoTime() - wallNanos;
        long cpu = PROCESS.getProcessCpuTime() - cpuNanos;
        long allocated = THREADS.getCurrentThreadAllocatedBytes() - allocatedBytes;
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("wall_seconds", wall / NANOS);
        found.put("cpu_seconds", cpu / NANOS);
        found.put("gc_seconds", (collectionMillis() - collectionMillis) / MILLIS);
        found.put("allocated_bytes", allocated);
        return found;
    }

    private static long collectionMillis() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionTime)
                .sum();
    }
}
