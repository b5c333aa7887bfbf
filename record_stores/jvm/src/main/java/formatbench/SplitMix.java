package formatbench;

/**
 * Stream of random words of 64 bits that can be asked at any position.
 *
 * <p>Source: G. L. Steele, D. Lea, C. H. Flood: Fast splittable pseudorandom number generators, OOPSLA
 * 2014, doi:10.1145/2660193.2660195.
 */
final class SplitMix {
    private static final long GAMMA = 0x9E3779B97F4A7C15L;

    private final long key;

    SplitMix(long seed, int stream) {
        key = mix(mix(seed + GAMMA) + stream * GAMMA);
    }

    /** Return a number from 0 to before a limit, of the word at a position. */
    int below(int limit, long position) {
        return (int) ((word(position) >>> Integer.SIZE) * limit >>> Integer.SIZE);
    }

    /** Return the upper half of the word at a position. */
    int number(long position) {
        return (int) (word(position) >> Integer.SIZE);
    }

    /** Return the word at a position. */
    long word(long position) {
        return mix(key + (position + 1) * GAMMA);
    }

    private static long mix(long word) {
        long z = (word ^ word >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }
}
