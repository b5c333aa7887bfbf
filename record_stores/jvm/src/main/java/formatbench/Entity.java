package formatbench;

import java.io.Serializable;

/** Flat record of the published program: five numbers and five texts. */
public class Entity implements Serializable {
    /** Numbers, and texts, of a record. */
    public static final int FIELDS_OF_A_KIND = 5;

    private static final long serialVersionUID = 1;

    public int number1;
    public int number2;
    public int number3;
    public int number4;
    public int number5;
    public String text1;
    public String text2;
    public String text3;
    public String text4;
    public String text5;

    /** Return a number by its position, from 0. */
    public static int number(Entity entity, int position) {
        return switch (position) {
            case 0 -> entity.number1;
            case 1 -> entity.number2;
            case 2 -> entity.number3;
            case 3 -> entity.number4;
            case 4 -> entity.number5;
            default -> throw new IndexOutOfBoundsException(position);
        };
    }

    /** Return a text by its position, from 0. */
    public static String text(Entity entity, int position) {
        return switch (position) {
            case 0 -> entity.text1;
            case 1 -> entity.text2;
            case 2 -> entity.text3;
            case 3 -> entity.text4;
            case 4 -> entity.text5;
            default -> throw new IndexOutOfBoundsException(position);
        };
    }

    /** Set a number by its position, from 0. */
    public static void setNumber(Entity entity, int position, int number) {
        switch (position) {
            case 0 -> entity.number1 = number;
            case 1 -> entity.number2 = number;
            case 2 -> entity.number3 = number;
            case 3 -> entity.number4 = number;
            case 4 -> entity.number5 = number;
            default -> throw new IndexOutOfBoundsException(position);
        }
    }

    /** Set a text by its position, from 0. */
    public static void setText(Entity entity, int position, String text) {
        switch (position) {
            case 0 -> entity.text1 = text;
            case 1 -> entity.text2 = text;
            case 2 -> entity.text3 = text;
            case 3 -> entity.text4 = text;
            case 4 -> entity.text5 = text;
            default -> throw new IndexOutOfBoundsException(position);
        }
    }
}
