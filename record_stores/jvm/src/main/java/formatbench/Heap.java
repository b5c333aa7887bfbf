package formatbench;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryType;
import java.util.Set;

/** Heap in use, after collections that agree. */
final class Heap {
    /** Difference that two readings in a row may have, of objects that the JVM itself makes. */
    private static final long AGREEMENT_BYTES = 4096;

    private static final int MOST_COLLECTIONS = 50;
    private static final long PAUSE_MILLIS = 20;

    private static final long MOST_MILLIS = 2000;

    private Heap() {}

    /** Return the threads that are alive. */
    static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet();
    }

    /** Wait for new threads that a library has told to end, since they may refer to objects. */
    static void awaitThreads(Set<Thread> before) throws InterruptedException {
        for (long waited = 0; waited < MOST_MILLIS && !before.containsAll(threads()); ) {
            Thread.sleep(PAUSE_MILLIS);
            waited += PAUSE_MILLIS;
        }
    }

    /** Return the bytes in use after full collections, until two readings agree to 4 KiB. */
    static long settledBytes() throws InterruptedException {
        long last = collectedBytes();
        for (int i = 0; i < MOST_COLLECTIONS; i++) {
            long next = collectedBytes();
            if (Math.abs(next - last) <= AGREEMENT_BYTES) {
                return next;
            }
            last = next;
        }
        throw new IllegalStateException("the heap does not settle in " + MOST_COLLECTIONS + " collections");
    }

    private static long collectedBytes() throws InterruptedException {
        System.gc();
        // Cleaners and reference queues of the libraries run after a collection.
        Thread.sleep(PAUSE_MILLIS);
        // What the collection left: the heap in use now includes the buffer for a thread's next objects,
        // whose size follows what the thread has allocated, and may be tens of megabytes.
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getType() == MemoryType.HEAP)
                .mapToLong(pool -> pool.getCollectionUsage().getUsed())
                .sum();
    }
}
