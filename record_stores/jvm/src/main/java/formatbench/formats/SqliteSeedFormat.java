package formatbench.formats;

import formatbench.Codec;
import formatbench.Entity;
import formatbench.WholeFile;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/**
 * SQLite as in the published program.
 *
 * <p>Its columns are declared {@code string}, which is the affinity NUMERIC: texts of digits become
 * numbers, and 057 comes back as 57. Columns are read by their names, and the file is compressed byte by
 * byte.
 */
public class SqliteSeedFormat extends SqliteFormat {
    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws Exception {
        Path plain = codec == Codec.NONE ? path : path.resolveSibling(path.getFileName() + ".plain");
        try (WholeFile file = WholeFile.create(plain, Codec.NONE);
                Connection connection = connect(file);
                Statement statement = connection.createStatement()) {
            statement.execute(table());
            connection.setAutoCommit(false);
            insert(records, connection);
            connection.commit();
        }
        if (codec != Codec.NONE) {
            try (InputStream input = new FileInputStream(plain.toFile());
                    OutputStream output = codec.compressing(new FileOutputStream(path.toFile()))) {
                copy(input, output);
            }
            Files.delete(plain);
        }
    }

    @Override
    String table() {
        return table("string");
    }

    private static void copy(InputStream input, OutputStream output) throws IOException {
        for (int each; (each = input.read()) >= 0; ) {
            output.write(each);
        }
    }

    @Override
    Object record(ResultSet row) throws SQLException {
        Entity entity = new Entity();
        for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
            Entity.setNumber(entity, i, row.getInt("number" + (i + 1)));
            Entity.setText(entity, i, row.getString("text" + (i + 1)));
        }
        return entity;
    }
}
