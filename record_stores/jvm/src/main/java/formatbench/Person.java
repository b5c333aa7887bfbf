package formatbench;

import java.io.Serializable;
import java.util.List;
import org.apache.fory.annotation.Nullable;

/** Record with optional fields, lists, an enum and a nested record. */
public class Person implements Serializable {
    private static final long serialVersionUID = 1;

    public int id;
    public String name;

    // Fields are never null for Fory across languages unless they are annotated.
    @Nullable
    public String nickname;
    @Nullable
    public Integer age;
    public Status status;
    public List<String> tags;
    public List<Integer> scores;
    @Nullable
    public Address address;

    /** Status of a person, in the order of its numbers. */
    public enum Status {
        UNKNOWN,
        ACTIVE,
        SUSPENDED,
        CLOSED
    }

    /** Address of a person. */
    public static class Address implements Serializable {
        private static final long serialVersionUID = 1;

        public String street;
        public int number;
        public String city;
        @Nullable
        public String postcode;
    }
}
