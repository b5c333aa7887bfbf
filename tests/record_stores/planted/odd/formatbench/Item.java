package formatbench;

import java.util.List;

/** Record with a text that a program can make, and UTF-8 or a format's type cannot hold. */
public class Item {
    public int number;
    public String text;

    /** Return two records; the property "odd" says which text the second one has. */
    public static List<Item> examples() {
        Item usual = new Item();
        usual.text = "usual \ud83d\ude00";
        Item odd = new Item();
        odd.text = "null".equals(System.getProperty("odd")) ? null : "x\ud800y";
        return List.of(usual, odd);
    }
}
