package formatbench.formats;

import formatbench.Codec;
import formatbench.Entity;
import formatbench.Format;
import formatbench.UnsupportedException;
import formatbench.WholeFile;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Consumer;

/** SQLite by JDBC: one table, one transaction, batches; columns are read by their numbers. */
public class SqliteFormat implements Format {
    private static final int BATCH_ROWS = 1000;

    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws Exception {
        try (WholeFile file = WholeFile.create(path, codec)) {
            try (Connection connection = connect(file);
                    Statement statement = connection.createStatement()) {
                statement.execute("PRAGMA journal_mode = OFF");
                statement.execute("PRAGMA synchronous = OFF");
                statement.execute("PRAGMA locking_mode = EXCLUSIVE");
                statement.execute(table("TEXT"));
                connection.setAutoCommit(false);
                insert(records, connection);
                connection.commit();
            }
            file.compress();
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws Exception {
        try (WholeFile file = WholeFile.open(path, codec);
                Connection connection = connect(file);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT * FROM entities")) {
            while (rows.next()) {
                sink.accept(entity(rows));
            }
        }
    }

    @Override
    public Object entry(Class<?> type, Path path, Codec codec, long position) throws Exception {
        UnsupportedException.unless(codec == Codec.NONE, "the whole file would be decompressed");
        try (WholeFile file = WholeFile.open(path, codec);
                Connection connection = connect(file);
                PreparedStatement statement =
                        connection.prepareStatement("SELECT * FROM entities WHERE rowid = ?")) {
            statement.setLong(1, position + 1);
            try (ResultSet rows = statement.executeQuery()) {
                if (!rows.next()) {
                    throw new NoSuchElementException("there is no record " + position);
                }
                return entity(rows);
            }
        }
    }

    @Override
    public void check(Class<?> type, Codec codec) throws UnsupportedException {
        UnsupportedException.unless(type == Entity.class, "a table has flat records");
    }

    /** Return the statement that makes the table, with a type for columns of texts. */
    static String table(String text) {
        StringBuilder columns = new StringBuilder();
        for (int i = 1; i <= Entity.FIELDS_OF_A_KIND; i++) {
            columns.append("number").append(i).append(" INTEGER, ");
        }
        for (int i = 1; i <= Entity.FIELDS_OF_A_KIND; i++) {
            columns.append(i == 1 ? "" : ", ").append("text").append(i).append(' ').append(text);
        }
        return "CREATE TABLE entities (" + columns + ")";
    }

    static Connection connect(WholeFile file) throws SQLException {
        return DriverManager.getConnection("jdbc:sqlite:" + file.plain());
    }

    /** Insert records in batches, for which the driver asks no keys. */
    static void insert(List<?> records, Connection connection) throws SQLException {
        String insert = "INSERT INTO entities VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
        try (PreparedStatement statement = connection.prepareStatement(insert)) {
            int row = 0;
            for (Object each : records) {
                Entity entity = (Entity) each;
                for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
                    statement.setInt(1 + i, Entity.number(entity, i));
                    statement.setString(1 + Entity.FIELDS_OF_A_KIND + i, Entity.text(entity, i));
                }
                statement.addBatch();
                if (++row % BATCH_ROWS == 0) {
                    statement.executeBatch();
                }
            }
            statement.executeBatch();
        }
    }

    private static Entity entity(ResultSet row) throws SQLException {
        Entity entity = new Entity();
        for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
            Entity.setNumber(entity, i, row.getInt(1 + i));
            Entity.setText(entity, i, row.getString(1 + Entity.FIELDS_OF_A_KIND + i));
        }
        return entity;
    }
}
