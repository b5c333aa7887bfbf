package formatbench.formats;

import formatbench.Person;
import formatbench.protobuf.AddressMessage;
import formatbench.protobuf.PersonMessage;
import java.util.ArrayList;

/** Persons as messages of Protocol Buffers. */
final class ProtobufPersons {
    private ProtobufPersons() {}

    static PersonMessage message(Person person) {
        PersonMessage.Builder message = PersonMessage.newBuilder()
                .setId(person.id)
                .setName(person.name)
                .setStatusValue(person.status.ordinal())
                .addAllTags(person.tags)
                .addAllScores(person.scores);
        if (person.nickname != null) {
            message.setNickname(person.nickname);
        }
        if (person.age != null) {
            message.setAge(person.age);
        }
        if (person.address != null) {
            message.setAddress(address(person.address));
        }
        return message.build();
    }

    static Person plain(PersonMessage message) {
        Person person = new Person();
        person.id = message.getId();
        person.name = message.getName();
        person.nickname = message.hasNickname() ? message.getNickname() : null;
        person.age = message.hasAge() ? message.getAge() : null;
        person.status = Person.Status.values()[message.getStatusValue()];
        person.tags = new ArrayList<>(message.getTagsList());
        person.scores = new ArrayList<>(message.getScoresList());
        person.address = message.hasAddress() ? plain(message.getAddress()) : null;
        return person;
    }

    private static AddressMessage address(Person.Address address) {
        AddressMessage.Builder message = AddressMessage.newBuilder()
                .setStreet(address.street)
                .setNumber(address.number)
                .setCity(address.city);
        if (address.postcode != null) {
            message.setPostcode(address.postcode);
        }
        return message.build();
    }

    private static Person.Address plain(AddressMessage message) {
        Person.Address address = new Person.Address();
        address.street = message.getStreet();
        address.number = message.getNumber();
        address.city = message.getCity();
        address.postcode = message.hasPostcode() ? message.getPostcode() : null;
        return address;
    }
}
