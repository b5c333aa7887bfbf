package formatbench.formats;

import formatbench.Codec;
import formatbench.Entity;
import formatbench.Format;
import formatbench.UnsupportedException;
import formatbench.WholeFile;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.NoSuchElementException;
import java.util.function.Consumer;

/** A database by JDBC: a table of flat records, whose columns are read by their numbers. */
abstract class JdbcFormat implements Format {
    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws Exception {
        try (WholeFile file = WholeFile.open(path, codec);
                Connection connection = connect(file);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT * FROM entities")) {
            while (rows.next()) {
                sink.accept(record(rows));
            }
        }
    }

    @Override
    public Object entry(Class<?> type, Path path, Codec codec, long position) throws Exception {
        UnsupportedException.unless(codec == Codec.NONE, "the whole file would be decompressed");
        try (WholeFile file = WholeFile.open(path, codec);
                Connection connection = connect(file);
                PreparedStatement statement =
                        connection.prepareStatement("SELECT * FROM entities WHERE " + isAtPosition())) {
            statement.setLong(1, position);
            try (ResultSet rows = statement.executeQuery()) {
                if (!rows.next()) {
                    throw new NoSuchElementException("there is no record " + position);
                }
                return record(rows);
            }
        }
    }

    /** Return a connection to the database of a file. */
    abstract Connection connect(WholeFile file) throws SQLException;

    /** Return the condition of the row at a position, a parameter that counts from 0. */
    abstract String isAtPosition();

    /** Return the record of a row. */
    Object record(ResultSet row) throws Exception {
        Entity entity = new Entity();
        for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
            Entity.setNumber(entity, i, row.getInt(1 + i));
            Entity.setText(entity, i, row.getString(1 + Entity.FIELDS_OF_A_KIND + i));
        }
        return entity;
    }
}
