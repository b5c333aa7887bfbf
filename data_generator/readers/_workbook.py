"""Extent of the sheets of a workbook, cells without values, and XML, before a library reads them."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from xml.parsers import expat

from adapter_core.errors import InvalidDataError
from data_generator.readers._reader import check_fits

# https://support.microsoft.com/en-us/office/excel-specifications-and-limits-1672b34d-7043-467e-8e27-269d656771c3
MOST_ROWS = 2**20
MOST_COLUMNS = 2**14

# Readers make a rectangle of cells, from the first to the last: one cell far away takes hours.
SPARSE_CELLS = 10**7
CELLS_FOR_EACH = 100

# A reference to a cell and a place in a row, for each cell that is read.
BYTES_OF_A_CELL = 16

_CELL = re.compile(r"([A-Z]{1,4})([0-9]{1,10})\Z")


def check_workbook(path: Path, archive: zipfile.ZipFile) -> dict[str, Cells]:
    """Return the cells of each part of a workbook, by its name in the archive.

    Exceptions other than `InvalidDataError` mean a damaged archive.

    Raises
    ------
    InvalidDataError
        For entities in XML, and for sheets with a few cells far apart.
    """
    found = {}
    for member in archive.infolist():
        with archive.open(member) as part:
            cells = found[member.filename] = Cells(path, member.filename)
            cells.scan(part)
        cells.check()
    return found


@dataclass
class Cells:
    """Rectangle of the cells in a part of a workbook, and the number of all and of some."""

    path: Path
    part: str
    row: int = 0
    column: int = 0
    rows: int = 0
    columns: int = 0
    cells: int = 0
    errors: int = 0
    """Cells that show an error, e.g. #DIV/0!."""
    formulas: int = 0
    """Formulas without a value, which the program that wrote them did not compute."""
    _tag: str = ""
    _is_text: bool = False
    _lacks_value: bool = False

    def scan(self, file: IO[bytes]) -> None:
        """Parse a part; one that is not XML, e.g. a picture, has no cells."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._add
        parser.StartDoctypeDeclHandler = self._refuse
        try:
            parser.ParseFile(file)
        except expat.ExpatError:
            return

    def _refuse(self, *_: object) -> None:
        # Entities expand to any size, and may name other files; no program writes them.
        problem = f"has a document type with entities in {self.part[:60]!a}, as no workbook needs"
        raise InvalidDataError(self.path, problem, "save it again in a spreadsheet program")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = self._tag = name.rpartition(" ")[2]
        if tag == "row":
            number = attributes.get("r", "")
            self.row = (
                int(number) if number.isdecimal() and len(number) < len("10000000000") else self.row + 1
            )
            self.column = 0
        elif tag == "c":
            found = _CELL.match(attributes.get("r", ""))
            self.column = _number(found[1]) if found else self.column + 1
            self.row = int(found[2]) if found else self.row
            self.cells += 1
            self.columns = max(self.columns, self.column)
            self.errors += attributes.get("t") == "e"
            self._is_text = attributes.get("t") == "str"
        elif tag == "f":
            # Text may be empty, as a value.
            self._lacks_value = not self._is_text
            return
        else:
            return
        self.rows = max(self.rows, self.row)

    def _add(self, _: str) -> None:
        if self._tag == "v":
            self._lacks_value = False

    def _end(self, name: str) -> None:
        self._tag = ""
        if self._lacks_value and name.rpartition(" ")[2] == "c":
            self.formulas += 1
            self._lacks_value = False

    def remarks(self) -> list[str]:
        """Return the cells that are nulls although they are not empty, as a clause."""
        counts = {"with an error": self.errors, "of formulas without a value": self.formulas}
        found = [f"{count:,} {what}" for what, count in counts.items() if count]
        return [f"cells read as nulls: {', '.join(found)}"] if found else []

    def check(self) -> None:
        """Raise `InvalidDataError` if a reader would take far longer than its cells do."""
        if self.rows > MOST_ROWS or self.columns > MOST_COLUMNS:
            problem = f"has a cell beyond XFD1048576, the last one of a sheet, in {self.part[:60]!a}"
            raise InvalidDataError(self.path, problem, "it may be damaged")
        all_cells = self.rows * self.columns
        if all_cells > max(SPARSE_CELLS, CELLS_FOR_EACH * self.cells):
            problem = (
                f"has {self.cells:,} cells in {self.part[:60]!a}, spread over {self.rows:,} rows and "
                f"{self.columns:,} columns"
            )
            raise InvalidDataError(self.path, problem, "delete the rows and columns far from the table")
        check_fits(self.path, BYTES_OF_A_CELL * all_cells)


def _number(letters: str) -> int:
    """Return the number of a column, from 1 on."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
