package formatbench.formats;

import formatbench.Codec;
import formatbench.Entity;
import formatbench.UnsupportedException;
import formatbench.WholeFile;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.duckdb.DuckDBAppender;
import org.duckdb.DuckDBConnection;

/** DuckDB by its appender and JDBC: one table, one thread; it compresses columns by itself. */
public class DuckdbFormat extends JdbcFormat {
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
    public void check(Class<?> type, Codec codec) throws UnsupportedException {
        UnsupportedException.unless(type == Entity.class, "a table of flat records is appended here");
    }

    @Override
    DuckDBConnection connect(WholeFile file) throws SQLException {
        DuckDBConnection connection =
                (DuckDBConnection) DriverManager.getConnection("jdbc:duckdb:" + file.plain());
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET threads = 1");
        }
        return connection;
    }

    @Override
    String isAtPosition() {
        return "rowid = ?";
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
}
