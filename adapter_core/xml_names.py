"""What XML allows as names of elements and as text, for every engine that writes it."""

from __future__ import annotations

import re

ELEMENT_NAME = re.compile(r"[^\W\d][\w.\-·]*")
"""Names without colons, https://www.w3.org/TR/xml-names/#NT-NCName, as far as \\w goes."""

NOT_A_CHARACTER = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x{FFFE}\x{FFFF}]"
"""https://www.w3.org/TR/xml/#charsets"""
