package formatbench.formats;

import formatbench.Codec;
import formatbench.Entity;
import formatbench.Format;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.function.Consumer;

/** Format of known costs and failures: the name of the file tells which. */
public class PlantedFormat implements Format {
    private static final int MEGABYTE = 1_000_000;
    private static final int BOXES = 200_000;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private int calls;

    @Override
    public void write(List<?> records, Class<?> type, Path path, Codec codec) throws IOException {
        if (path.getFileName().toString().equals("payload.ser")) {
            try (ObjectOutputStream output = new ObjectOutputStream(codec.create(path))) {
                output.writeInt(1);
                output.writeObject(new Payload(path.resolveSibling("made")));
            }
            return;
        }
        throw new IllegalStateException("planted \"error\"\n\u00e9");
    }

    @Override
    public void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws Exception {
        switch (path.getFileName().toString()) {
            case "heap" -> {
                for (int i = 0; i < 10; i++) {
                    sink.accept(new byte[MEGABYTE]);
                }
            }
            case "sleep" -> {
                long start = System.nanoTime();
                Thread.sleep(200);
                String nanos = (System.nanoTime() - start) + "\n";
                Files.writeString(
                        path.resolveSibling("slept"), nanos, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            }
            case "boxes" -> {
                for (int i = 0; i < BOXES; i++) {
                    sink.accept(new Box(i));
                }
            }
            case "spin" -> spin(3_000_000);
            case "settling" -> spin(Math.max(10_000_000, 50_000_000 - 5_000_000 * calls++));
            case "restless" -> spin(calls++ % 2 == 0 ? 2_000_000 : 4_000_000);
            case "hang" -> Thread.sleep(1_000_000);
            case "crash" -> Runtime.getRuntime().halt(134);
            case "noise" -> System.out.println("{\"event\": \"end\"}");
            default -> {
                for (;;) {
                    sink.accept(new byte[100 * MEGABYTE]);
                }
            }
        }
    }

    /** Take processor time, in nanoseconds. */
    private static void spin(long nanos) {
        long end = THREADS.getCurrentThreadCpuTime() + nanos;
        while (THREADS.getCurrentThreadCpuTime() < end) {
            Thread.onSpinWait();
        }
    }

    /** Object of 16 bytes. */
    private static final class Box {
        final int number;

        Box(int number) {
            this.number = number;
        }
    }

    @Override
    public Object plain(Object object) {
        Entity entity = new Entity();
        entity.text1 = String.valueOf(((byte[]) object).length);
        return entity;
    }
}
