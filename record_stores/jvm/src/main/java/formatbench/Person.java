package formatbench;

import java.io.Serializable;
import java.util.List;

/** Record with optional fields, lists, an enum and a nested record. */
public class Person implements Serializable {
    private static final long serialVersionUID = 1;

    public int id;
    public String name;
    public String nickname;
    public Integer age;
    public Status status;
    public List<String> tags;
    public List<Integer> scores;
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
        public String postcode;
    }
}
