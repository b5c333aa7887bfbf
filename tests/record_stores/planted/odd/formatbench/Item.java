package formatbench;

import java.util.Arrays;
import java.util.List;

/** Records with a value that a program can make, and UTF-8 or the type of a field cannot hold. */
public class Item {
    /** Return two records; the property "odd" says which value the second one has. */
    public static List<?> examples() {
        return switch (System.getProperty("odd")) {
            case "null" -> List.of(entity("usual \ud83d\ude00"), entity(null));
            case "half" -> List.of(entity("usual \ud83d\ude00"), entity("x\ud800y"));
            case "null name" -> List.of(person("usual", "tag", "city"), person(null, "tag", "city"));
            case "null tag" -> List.of(person("usual", "tag", "city"), person("usual", null, "city"));
            case "half city" -> List.of(person("usual", "tag", "city"), person("usual", "tag", "\udc00"));
            default -> throw new IllegalArgumentException(System.getProperty("odd"));
        };
    }

    private static Entity entity(String third) {
        Entity found = new Entity();
        for (int i = 0; i < Entity.FIELDS_OF_A_KIND; i++) {
            Entity.setText(found, i, i == 2 ? third : "text");
        }
        return found;
    }

    private static Person person(String name, String tag, String city) {
        Person found = new Person();
        found.name = name;
        found.status = Person.Status.ACTIVE;
        found.tags = Arrays.asList("first", tag);
        found.scores = List.of(1);
        found.address = new Person.Address();
        found.address.street = "street";
        found.address.city = city;
        return found;
    }
}
