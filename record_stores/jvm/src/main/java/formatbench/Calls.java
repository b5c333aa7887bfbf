package formatbench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Calls of a request in one JVM: a number of them, then further ones until they are steady.
 *
 * <p>They are steady once the processor times of the last five have a coefficient of variation, the
 * standard deviation by the mean, of at most 2 %: A. Georges, D. Buytaert and L. Eeckhout,
 * "Statistically Rigorous Java Performance Evaluation", OOPSLA 2007. Processor times, since other programs
 * disturb them less. And the compiler has to be quiet meanwhile, since times may be flat for a while before it
 * replaces code, and some programs are never steady, so there are limits: E. Barrett et al., "Virtual Machine
 * Warmup Blows Hot and Cold", OOPSLA 2017.
 */
final class Calls {
    /** Calls that are compared, and count as samples. */
    static final int WINDOW = 5;

    private static final double LARGEST_VARIATION = 0.02;

    /** Largest time of the compiler, by that of the calls. */
    private static final double LARGEST_COMPILATION = 0.02;

    private static final double NANOS = 1e9;

    private final int least;
    private final int most;
    private final double mostSeconds;
    private final long startNanos = System.nanoTime();
    private final List<Map<String, Object>> taken = new ArrayList<>();

    /**
     * Plan calls.
     *
     * @param least number of calls, if there is no time for more
     * @param most number of calls after which none follows, steady or not
     * @param mostSeconds seconds after which none follows, all between the calls included
     */
    Calls(int least, int most, double mostSeconds) {
        this.least = least;
        this.most = most;
        this.mostSeconds = mostSeconds;
    }

    /** Return whether a further call is to be made. */
    boolean goOn() {
        if (taken.size() < least) {
            return true;
        }
        boolean isOver = taken.size() >= most || System.nanoTime() - startNanos >= mostSeconds * NANOS;
        return !isOver && !isSteady();
    }

    /** Return the number of calls made. */
    int count() {
        return taken.size();
    }

    /** Note the readings of a call. */
    void add(Map<String, Object> readings) {
        taken.add(readings);
    }

    /** Return how many of the calls were warm-up, and whether, and how far, the others agree. */
    Map<String, Object> facts() {
        boolean isSteady = isSteady();
        int samples = isSteady ? WINDOW : Math.max(1, Math.min(WINDOW, taken.size() / 2));
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("calls", taken.size() - samples);
        found.put("is_steady", isSteady);
        found.put("variation", variation(last(samples)));
        return found;
    }

    private boolean isSteady() {
        // The first call loads classes.
        if (taken.size() <= WINDOW) {
            return false;
        }
        List<Map<String, Object>> window = last(WINDOW);
        return variation(window) <= LARGEST_VARIATION
                && sum(window, "compiler_seconds") <= LARGEST_COMPILATION * sum(window, "wall_seconds");
    }

    private List<Map<String, Object>> last(int number) {
        return taken.subList(taken.size() - number, taken.size());
    }

    private static double variation(List<Map<String, Object>> calls) {
        double mean = sum(calls, "cpu_seconds") / calls.size();
        if (calls.size() == 1 || mean == 0) {
            // A clock of ticks shows nothing of calls that are shorter.
            return calls.size() == 1 ? 0 : 1;
        }
        double squares = 0;
        for (Map<String, Object> each : calls) {
            squares += Math.pow((double) each.get("cpu_seconds") - mean, 2);
        }
        return Math.sqrt(squares / (calls.size() - 1)) / mean;
    }

    private static double sum(List<Map<String, Object>> calls, String reading) {
        return calls.stream().mapToDouble(each -> (double) each.get(reading)).sum();
    }
}
