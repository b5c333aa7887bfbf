package formatbench;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Base64;

/** Canonical values and those of Java. */
final class Values {
    static final String NAN = "nan";
    private static final int FLOAT16_INFINITY = 0x7C00;
    private static final int FLOAT16_WITHOUT_SIGN = 0x7FFF;
    private static final int HEXADECIMAL = 16;

    private Values() {}

    static String of(float value) {
        return Float.isNaN(value) ? NAN : String.format("%08x", Float.floatToRawIntBits(value));
    }

    static String of(double value) {
        return Double.isNaN(value) ? NAN : String.format("%016x", Double.doubleToRawLongBits(value));
    }

    /** Return a float of 16 bits, which Java 17 has no type for. */
    static String ofFloat16(short bits) {
        boolean isNan = (bits & FLOAT16_WITHOUT_SIGN) > FLOAT16_INFINITY;
        return isNan ? NAN : String.format("%04x", bits & 0xFFFF);
    }

    static String of(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }

    static String of(BigInteger unscaled, int scale) {
        return new BigDecimal(unscaled, scale).toPlainString();
    }

    static float toFloat(Object text) {
        return text.equals(NAN) ? Float.NaN : Float.intBitsToFloat(Integer.parseUnsignedInt((String) text, HEXADECIMAL));
    }

    static double toDouble(Object text) {
        return text.equals(NAN)
                ? Double.NaN
                : Double.longBitsToDouble(Long.parseUnsignedLong((String) text, HEXADECIMAL));
    }

    static short toFloat16(Object text) {
        return text.equals(NAN)
                ? (short) (FLOAT16_INFINITY | 1 << 9)
                : (short) Integer.parseInt((String) text, HEXADECIMAL);
    }

    /** Return a float of 16 bits as one of 32: a fraction of 10 bits, and an exponent of 5. */
    static float float16ToFloat(Object text) {
        short bits = toFloat16(text);
        int exponent = bits >> 10 & 0x1F;
        int fraction = bits & 0x3FF;
        float size;
        if (exponent == 0x1F) {
            size = fraction == 0 ? Float.POSITIVE_INFINITY : Float.NaN;
        } else {
            size = exponent == 0 ? Math.scalb(fraction, -24) : Math.scalb(0x400 | fraction, exponent - 25);
        }
        return bits < 0 ? -size : size;
    }

    static byte[] toBytes(Object text) {
        return Base64.getDecoder().decode((String) text);
    }

    static BigInteger toUnscaled(Object text, Type decimal) {
        return new BigDecimal((String) text).setScale(decimal.number(1)).unscaledValue();
    }

    /** Return a count; one of seconds as milliseconds, which formats without seconds have. */
    static long toCount(Object text, String unit) {
        long count = Long.parseLong((String) text);
        return unit.equals("s") ? Math.multiplyExact(count, 1000L) : count;
    }

    static UnsupportedOperationException unsupported(String format, Type type) {
        return new UnsupportedOperationException(format + " has no type for " + type);
    }
}
