"""Tables of declared studies that the general sections cannot show."""
