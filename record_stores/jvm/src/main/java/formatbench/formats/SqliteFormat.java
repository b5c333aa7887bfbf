package formatbench.formats;

import formatbench.Codec;
import formatbench.Entity;
import formatbench.UnsupportedException;
import formatbench.WholeFile;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.List;

/** SQLite by JDBC: one table, one transaction, batches; columns are read by their numbers. */
public class SqliteFormat extends JdbcFormat {
    private static final int BATCH_ROWS = 1000;

    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws Exception {
        try (WholeFile file = WholeFile.create(path, codec)) {
            try (Connection connection = connect(file);
                    Statement statement = connection.createStatement()) {
                statement.execute("PRAGMA journal_mode = OFF");
                statement.execute("PRAGMA synchronous = OFF");
                statement.execute("PRAGMA locking_mode = EXCLUSIVE");
                statement.execute(table());
                connection.setAutoCommit(false);
                insert(records, connection);
                connection.commit();
            }
            file.compress();
        }
    }

    @Override
    public void check(Class<?> type, Codec codec) throws UnsupportedException {
        UnsupportedException.unless(type == Entity.class, "a table has flat records");
    }

    /** Return the statement that makes the table. */
    String table() {
        return table("TEXT");
    }

    /** Return the statement that makes the table of entities, with a type for columns of texts. */
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

    @Override
    Connection connect(WholeFile file) throws SQLException {
        return DriverManager.getConnection("jdbc:sqlite:" + file.plain());
    }

    @Override
    String isAtPosition() {
        // Rows are numbered from 1. A field may be called rowid, none _rowid_.
        return "_rowid_ = ? + 1";
    }

    /** Insert records in batches, for which the driver asks no keys. */
    final void insert(List<?> records, Connection connection) throws Exception {
        String places = String.join(", ", Collections.nCopies(columns(), "?"));
        String insert = "INSERT INTO entities VALUES (" + places + ")";
        try (PreparedStatement statement = connection.prepareStatement(insert)) {
            int row = 0;
            for (Object each : records) {
                set(statement, each);
                statement.addBatch();
                if (++row % BATCH_ROWS == 0) {
                    statement.executeBatch();
                }
            }
            statement.executeBatch();
        }
    }

    /** Return the number of columns. */
    int columns() {
        return 2 * Entity.FIELDS_OF_A_KIND;
    }

    /** Set the values of a row. */
    void set(PreparedStatement statement, Object record) throws Exception {
        Entity entity = (Entity) record;
        for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
            statement.setInt(1 + i, Entity.number(entity, i));
            statement.setString(1 + Entity.FIELDS_OF_A_KIND + i, Entity.text(entity, i));
        }
    }
}
