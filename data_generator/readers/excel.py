"""Reader of Excel workbooks, through pandas and openpyxl."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidDataError
from data_generator.labels import refuse_duplicates
from data_generator.readers._reader import ReadRequest, TableReader, check_fits
from data_generator.readers._values import typed
from data_generator.readers._workbook import check_workbook

if TYPE_CHECKING:
    import pandas as pd

# Offset of the first member's name in a ZIP archive:
# https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3.7 and 4.4.4.
FIRST_NAME = 30
# Flag of an encrypted member.
ENCRYPTED = 1

# Possible names of a workbook's first member; programs write different ones.
MEMBERS = (b"[Content_Types].xml", b"_rels/", b"docProps/", b"xl/")


class ExcelReader(TableReader):
    """Reader of one sheet with the names of its columns in the first row.

    Cells with an error, and formulas without a stored value, are nulls, which a remark counts.
    """

    kind = "Excel"
    endings = (".xlsx", ".xlsm")
    requires = ("openpyxl",)
    has_several_tables = True

    def recognises(self, head: bytes) -> bool:
        """Return True for a ZIP archive that begins as a workbook does."""
        return head.startswith(b"PK\3\4") and head.startswith(MEMBERS, FIRST_NAME)

    def read(self, request: ReadRequest) -> pd.DataFrame:
        """Return the only sheet that is not empty, or the named one."""
        import pandas as pd

        with self.guard(request), zipfile.ZipFile(request.path) as archive:
            members = archive.infolist()
        if any(member.flag_bits & ENCRYPTED for member in members):
            raise InvalidDataError(request.path, "is encrypted", "save it without a password")
        # A workbook of a few kilobytes may expand to any size (a "ZIP bomb").
        check_fits(request.path, sum(member.file_size for member in members))
        with self.guard(request), zipfile.ZipFile(request.path) as archive:
            parts = check_workbook(request.path, archive)
        with self.guard(request), pd.ExcelFile(request.path, engine="openpyxl") as workbook:
            sheets = {sheet.title: sheet for sheet in workbook.book.worksheets}
            headers = {name: _header(sheet) for name, sheet in sheets.items()}
        with_header = [name for name, header in headers.items() if header]
        if not with_header:
            raise InvalidDataError(request.path, "contains no sheet with names in its first row")
        sheet = request.only(with_header, "sheet")
        refuse_duplicates(request.path, headers[sheet])
        with self.guard(request):
            # Cells have types: text is no number, truth value or null, as pandas takes it for.
            cells = pd.read_excel(
                request.path,
                sheet_name=sheet,
                engine="openpyxl",
                dtype=object,
                keep_default_na=False,
                na_values=[""],
            )
            found = typed(cells, are_floats=True)
        request.remarks.extend(parts[sheets[sheet]._worksheet_path].remarks())  # noqa: SLF001
        return found


def _header(sheet: Any) -> list[str]:
    """Return the values of the first row, without empty cells."""
    row = next(sheet.iter_rows(max_row=1, values_only=True), ())
    return [str(name) for name in row if name is not None]
