package formatbench.formats;

import formatbench.Codec;
import formatbench.Field;
import formatbench.OwnFormat;
import formatbench.RecordType;
import formatbench.UnsupportedException;
import java.math.BigDecimal;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * SQLite by JDBC: a column for each field of a flat type that is given.
 *
 * <p>Booleans are 0 and 1, times microseconds since 1970, decimals texts, symbols of enums positions.
 */
public final class OwnSqlite extends SqliteFormat implements OwnFormat {
    private final RecordType type;

    public OwnSqlite(RecordType type) {
        this.type = type;
    }

    @Override
    public RecordType type() {
        return type;
    }

    @Override
    public Object plain(Object object) {
        return object;
    }

    @Override
    public void check(Class<?> maps, Codec codec) {}

    @Override
    String table() {
        return type.fields().stream()
                .map(each -> "\"" + each.name() + "\" " + column(each))
                .collect(Collectors.joining(", ", "CREATE TABLE entities (", ")"));
    }

    @Override
    int columns() {
        return type.fields().size();
    }

    @Override
    void set(PreparedStatement statement, Object record) throws Exception {
        int column = 1;
        for (Field each : type.fields()) {
            Object value = ((Map<?, ?>) record).get(each.name());
            if (value instanceof Double || value instanceof Float) {
                double number = ((Number) value).doubleValue();
                boolean isNegativeZero = number == 0 && Math.copySign(1, number) < 0;
                UnsupportedException.unless(
                        !isNegativeZero, each.name() + " is -0.0, which SQLite keeps as 0.0");
                UnsupportedException.unless(
                        !Double.isNaN(number), each.name() + " is NaN, which SQLite keeps as null");
            }
            statement.setObject(column++, value == null ? null : stored(value, each));
        }
    }

    @Override
    Object record(ResultSet row) throws SQLException {
        Map<String, Object> found = new LinkedHashMap<>();
        int column = 1;
        for (Field each : type.fields()) {
            Object value = value(row, column++, each);
            found.put(each.name(), row.wasNull() ? null : value);
        }
        return found;
    }

    private static String column(Field of) {
        String type = switch (of.kind()) {
            case FLOAT, DOUBLE -> "REAL";
            case TEXT, DECIMAL -> "TEXT";
            case BYTES -> "BLOB";
            default -> "INTEGER";
        };
        return of.isOptional() ? type : type + " NOT NULL";
    }

    private static Object stored(Object value, Field of) {
        return switch (of.kind()) {
            case BOOL -> (boolean) value ? 1 : 0;
            case FLOAT -> (double) (float) value;
            case TIMESTAMP -> OwnFormat.micros((Instant) value);
            case DECIMAL -> ((BigDecimal) value).toPlainString();
            case ENUM -> of.symbols().indexOf(value);
            default -> value;
        };
    }

    private static Object value(ResultSet row, int column, Field of) throws SQLException {
        return switch (of.kind()) {
            case BOOL -> row.getBoolean(column);
            case INT32 -> row.getInt(column);
            case INT64 -> row.getLong(column);
            case FLOAT -> (float) row.getDouble(column);
            case DOUBLE -> row.getDouble(column);
            case BYTES -> bytes(row.getBytes(column), row);
            case TIMESTAMP -> Instant.EPOCH.plus(row.getLong(column), ChronoUnit.MICROS);
            case DECIMAL -> decimal(row.getString(column));
            case ENUM -> of.symbols().get(row.getInt(column));
            default -> row.getString(column);
        };
    }

    /** Return bytes; the driver has null for none, but for a column that is null, too. */
    private static byte[] bytes(byte[] found, ResultSet row) throws SQLException {
        return found == null && !row.wasNull() ? new byte[0] : found;
    }

    private static BigDecimal decimal(String text) {
        return text == null ? null : new BigDecimal(text);
    }
}
