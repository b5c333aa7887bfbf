"""Published damage table of file formats for high-energy physics: 100 flipped bits each.

J. Blomer: A quantitative review of data formats for HEP analyses. ACAT 2017, Journal of Physics:
Conference Series 1085 (2018) 032020, https://doi.org/10.1088/1742-6596/1085/3/032020. The table is the
CSV file beside this module. A read without effect is one whose printed sum over the columns is right.
"""

from __future__ import annotations

from dataclasses import dataclass

from format_bench.results.published.figures import rows_of


@dataclass(frozen=True)
class PublishedFlips:
    """A row of the table: numbers of reads out of 100."""

    format: str
    codec: str
    no_effect: int
    crash: int
    error_message: int
    undetected: int

    @property
    def name(self) -> str:
        """Return format and codec, e.g. "ROOT, zlib"."""
        return self.format if self.codec == "none" else f"{self.format}, {self.codec}"


def flips() -> list[PublishedFlips]:
    """Return the rows of the table."""
    import msgspec

    return msgspec.convert(rows_of("hep_bit_flips"), list[PublishedFlips], strict=False)
