package formatbench.formats;

import formatbench.Person;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;

/** Persons as records of Avro, generic or of generated classes. */
final class AvroPersons {
    private static final int NULL_BRANCH = 0;

    private AvroPersons() {}

    /** Copy a person to a new record; nested ones are made by its data model. */
    static GenericRecord fill(GenericRecord record, Person person, GenericData model) {
        Schema schema = record.getSchema();
        record.put("id", person.id);
        record.put("name", person.name);
        record.put("nickname", person.nickname);
        record.put("age", person.age);
        record.put(
                "status", model.createEnum(person.status.name(), schema.getField("status").schema()));
        record.put("tags", person.tags);
        record.put("scores", person.scores);
        if (person.address != null) {
            Schema nested = schema.getField("address").schema().getTypes().get(NULL_BRANCH + 1);
            GenericRecord address = (GenericRecord) model.newRecord(null, nested);
            address.put("street", person.address.street);
            address.put("number", person.address.number);
            address.put("city", person.address.city);
            address.put("postcode", person.address.postcode);
            record.put("address", address);
        }
        return record;
    }

    static Person plain(GenericRecord record) {
        Person person = new Person();
        person.id = (Integer) record.get("id");
        person.name = text(record.get("name"));
        person.nickname = text(record.get("nickname"));
        person.age = (Integer) record.get("age");
        person.status = Person.Status.valueOf(record.get("status").toString());
        person.tags = new ArrayList<>();
        ((List<?>) record.get("tags")).forEach(each -> person.tags.add(text(each)));
        person.scores = new ArrayList<>();
        ((List<?>) record.get("scores")).forEach(each -> person.scores.add((Integer) each));
        GenericRecord nested = (GenericRecord) record.get("address");
        if (nested != null) {
            person.address = new Person.Address();
            person.address.street = text(nested.get("street"));
            person.address.number = (Integer) nested.get("number");
            person.address.city = text(nested.get("city"));
            person.address.postcode = text(nested.get("postcode"));
        }
        return person;
    }

    private static String text(Object value) {
        return value == null ? null : value.toString();
    }
}
