package formatbench;

import java.util.function.Consumer;

/**
 * Receiver of objects that are dropped, which forbids the compiler to leave out making them.
 *
 * <p>An object that no other code can reach need not exist: the compiler keeps those of its fields that are
 * used, here none. A reference in a static array makes the object, and all that it refers to, reachable.
 */
final class Sink implements Consumer<Object> {
    /** A power of two; the last objects live on, which is little beside any data set. */
    private static final int PLACES = 64;

    private static final Object[] LAST = new Object[PLACES];

    private long rows;

    @Override
    public void accept(Object each) {
        LAST[(int) rows & PLACES - 1] = each;
        rows++;
    }

    /** Return the number of objects received. */
    long rows() {
        return rows;
    }
}
