package formatbench.formats;

import formatbench.Codec;
import formatbench.Entity;
import formatbench.Format;
import formatbench.UnsupportedException;
import formatbench.WholeFile;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Consumer;
import org.duckdb.DuckDBAppender;
import org.duckdb.DuckDBConnection;

/** DuckDB by its appender and JDBC: one table, one thread; it compresses columns by itself. */
public class DuckdbFormat implements Format {
    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws Exception {
        try (WholeFile file = WholeFile.create(path, codec)) {
            try (DuckDBConnection connection = connect(file);
                    Statement statement = connection.createStatement()) {
                statement.execute(SqliteFormat.table("VARCHAR"));
                try (DuckDBAppender output = connection.createAppender("main", "entities")) {
                    for (Object each : records) {
                        append((Entity) each, output);
                    }
                }
            }
            file.compress();
        }
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws Exception {
        try (WholeFile file = WholeFile.open(path, codec);
                DuckDBConnection connection = connect(file);
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
                DuckDBConnection connection = connect(file);
                PreparedStatement statement =
                        connection.prepareStatement("SELECT * FROM entities WHERE rowid = ?")) {
            statement.setLong(1, position);
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
        UnsupportedException.unless(type == Entity.class, "a table of flat records is appended here");
    }

    private static DuckDBConnection connect(WholeFile file) throws SQLException {
        DuckDBConnection connection =
                (DuckDBConnection) DriverManager.getConnection("jdbc:duckdb:" + file.plain());
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET threads = 1");
        }
        return connection;
    }

    private static void append(Entity entity, DuckDBAppender output) throws SQLException {
        output.beginRow();
        for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
            output.append(Entity.number(entity, i));
        }
        for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
            output.append(Entity.text(entity, i));
        }
        output.endRow();
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
