package formatbench;

/** Request that a format, or its library, does not support; the message is the reason. */
public class UnsupportedException extends Exception {
    private static final long serialVersionUID = 1;

    public UnsupportedException(String reason) {
        super(reason);
    }

    /** Throw for a condition that does not hold. */
    public static void unless(boolean condition, String reason) throws UnsupportedException {
        if (!condition) {
            throw new UnsupportedException(reason);
        }
    }
}
