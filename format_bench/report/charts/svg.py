"""Figures of matplotlib as inline SVG.

matplotlib writes a whole document with a style sheet, style attributes, metadata and ids. The Content
Security Policy of the pages allows no style but their own, so that styles have to become attributes of
SVG; ids of several charts must differ; and artists have no tooltips, which SVG has as titles.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure


FONTS = "'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

_SPACE = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_TIP = "tip:"
# It cannot occur in text that was made printable, and attributes of XML keep it.
_BETWEEN_TIPS = "\u2028"
_DRAWN = ("path", "text", "use")
_LOOKS = (
    "fill",
    "fill-opacity",
    "font-size",
    "font-style",
    "font-weight",
    "stroke",
    "stroke-dasharray",
    "stroke-width",
    "text-anchor",
)
_PLACES = ("d", "transform", "x", "y")
_NUMBER = re.compile(r"-?\d+\.\d+")


def add_tips(artist: Artist, tips: Sequence[str]) -> None:
    """Give an artist a tooltip for each of its parts, such as the points of a collection."""
    artist.set_gid(_TIP + _BETWEEN_TIPS.join(tips))


def element(figure: Figure, title: str, alt: str, usual: dict[str, str]) -> ET.Element:
    """Return a figure as an SVG element.

    Parameters
    ----------
    figure : Figure
        Its paper is left out.
    title, alt : str
        Its name and its description, for those who do not see it.
    usual : dict
        The attributes that most texts have, which are then written once.
    """
    figure.patch.set_visible(False)
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    document = ET.fromstring(file.getvalue())  # noqa: S314 (written by matplotlib a line above)
    width, height = document.attrib["viewBox"].split()[2:]
    root = ET.Element(
        "svg",
        {
            "xmlns": _SPACE[1:-1],
            "role": "img",
            "viewBox": f"0 0 {width} {height}",
            "width": width,
            "height": height,
            "font-family": FONTS,
            "stroke-linejoin": "round",
            **usual,
        },
    )
    ET.SubElement(root, "title").text = title
    ET.SubElement(root, "desc").text = alt
    prefix = hashlib.sha256(title.encode()).hexdigest()[:8]
    root.extend(_parts(document, prefix, usual | {"text-anchor": "start"}))
    return root


def text_in(root: ET.Element, colours: Mapping[str, str]) -> str:
    """Return an element as text, its colours replaced; others stay."""
    for drawn in root.iter():
        for name in ("fill", "stroke"):
            if drawn.get(name) in colours:
                drawn.set(name, colours[drawn.attrib[name]])
    return ET.tostring(root, encoding="unicode")


def text_on(root: ET.Element, paper: str, margin: float = 12) -> str:
    """Return an element as the text of a file, with paper of a colour around it."""
    width, height = (float(root.attrib[name]) + 2 * margin for name in ("width", "height"))
    place = {"x": f"{-margin:g}", "y": f"{-margin:g}", "width": f"{width:g}", "height": f"{height:g}"}
    root.attrib |= place | {"viewBox": " ".join(place.values())}
    # Behind all that is drawn, after the name and the description.
    root.insert(2, ET.Element("rect", place | {"fill": paper}))
    return ET.tostring(root, encoding="unicode")


def _parts(group: ET.Element, prefix: str, usual: dict[str, str]) -> Iterator[ET.Element]:
    """Yield the drawn elements of a group in their order, with ids that start with a prefix."""
    tips = iter(group.get("id", "").removeprefix(_TIP).split(_BETWEEN_TIPS))
    has_tips = group.get("id", "").startswith(_TIP)
    for child in group:
        kind = child.tag.removeprefix(_SPACE)
        if kind == "g":
            # A line has its markers one level deeper than a collection.
            if has_tips:
                child.set("id", group.attrib["id"])
            yield from _parts(child, prefix, usual)
        elif kind == "defs":
            markers = [_clean(each, "path", prefix, usual) for each in child.findall(f"{_SPACE}path")]
            if markers:
                found = ET.Element("defs")
                found.extend(markers)
                yield found
        elif kind in _DRAWN:
            found = _clean(child, kind, prefix, usual)
            if has_tips:
                ET.SubElement(found, "title").text = next(tips)
            yield found


def _clean(drawn: ET.Element, kind: str, prefix: str, usual: dict[str, str]) -> ET.Element:
    looks = dict(each.split(": ", 1) for each in drawn.get("style", "").split("; ") if each)
    known = ((name, looks[name].removesuffix("px")) for name in _LOOKS if name in looks)
    attributes = {name: value for name, value in known if usual.get(name) != value}
    for name in _PLACES:
        place = " ".join(drawn.get(name, "").split())
        if place and not place.startswith("rotate(-0 "):
            attributes[name] = _NUMBER.sub(_shorter, place)
    if kind == "path" and drawn.get("id"):
        attributes["id"] = f"{prefix}-{drawn.attrib['id']}"
    if kind == "use":
        attributes["href"] = f"#{prefix}-{drawn.attrib[_LINK][1:]}"
    found = ET.Element(kind, attributes)
    found.text = drawn.text if kind == "text" else None
    return found


def _shorter(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")
