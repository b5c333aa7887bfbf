"""The words of `data_generator.columns.words`: 100 English nouns of 3 to 10 letters."""

WORDS = (
    "acorn amber anchor apple arrow autumn badge bamboo barrel basket beacon beaver bicycle blanket "
    "bottle branch bridge bronze butter button cabin camera candle canyon carpet castle cedar cherry "
    "circle cloud clover cobalt coffee comet copper coral cotton cradle crystal curtain dragon "
    "engine falcon feather fiddle forest fountain garden glacier hammer harbor hazel honey iceberg "
    "island ivory jacket jungle kettle ladder lantern lemon lobster magnet maple marble meadow "
    "mirror mountain needle ocean olive orchard oyster paper pebble pepper pigeon planet pocket "
    "quarry rabbit raven ribbon river saddle sailor shadow silver spider spring summer temple "
    "thunder timber tunnel umbrella valley violin whistle"
).split()
