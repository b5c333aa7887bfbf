package formatbench.formats;

import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;

/** Harmless payload of a hostile file: reading it makes an empty file. */
public class Payload implements Serializable {
    private static final long serialVersionUID = 1;

    private final String made;

    public Payload(Path made) {
        this.made = made.toString();
    }

    private void readObject(ObjectInputStream input) throws IOException, ClassNotFoundException {
        input.defaultReadObject();
        Files.createFile(Path.of(made));
    }
}
