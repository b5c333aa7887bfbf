"""Iceberg tables in a folder that is not, or not yet, where their metadata say.

Iceberg's metadata name every file by its whole address. A table that is written under a temporary name
names those of its final place, and one that was moved those of its former place. So files are looked for
in the folder at hand, under the rest of their address.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.io import FileIO

HINT = "version-hint.text"


def files_in(folder: Path, place: str) -> FileIO:
    """Return access to the files of a table whose metadata say it is at `place`, and is in `folder`."""
    from pyarrow.fs import LocalFileSystem
    from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO

    local = LocalFileSystem()

    def at_hand(location: str) -> Path:
        if not location.startswith(f"{place}/"):
            raise FileNotFoundError(f"{location} is not in the table, which should be at {place}")
        return folder / location.removeprefix(f"{place}/")

    class FilesInFolder(PyArrowFileIO):
        """Local files, whose addresses begin with that place."""

        def new_input(self, location: str) -> PyArrowFile:
            return PyArrowFile(location, str(at_hand(location)), local)

        def new_output(self, location: str) -> PyArrowFile:
            at_hand(location).parent.mkdir(exist_ok=True)
            return self.new_input(location)

    return FilesInFolder()


def folder_catalog() -> Catalog:
    """Return the catalog of a table that has none: its versions are files in its own folder.

    They are numbered, and a hint names the last, as other libraries know it of tables on file systems:
    https://iceberg.apache.org/spec/#file-system-tables
    """
    from pyiceberg.catalog.noop import NoopCatalog
    from pyiceberg.serializers import ToOutputFile
    from pyiceberg.table import CommitTableResponse, Table
    from pyiceberg.table.update import TableRequirement, TableUpdate, update_table_metadata

    class FolderCatalog(NoopCatalog):
        """Writes the metadata of a new version."""

        def commit_table(
            self,
            table: Table,
            requirements: tuple[TableRequirement, ...],
            updates: tuple[TableUpdate, ...],
        ) -> CommitTableResponse:
            for requirement in requirements:
                requirement.validate(table.metadata)
            metadata = update_table_metadata(table.metadata, updates)
            version = 1 + int(table.metadata_location.rpartition("/v")[2].split(".")[0])
            address = f"{metadata.location}/metadata/v{version}.metadata.json"
            ToOutputFile.table_metadata(metadata, table.io.new_output(address))
            hint = table.io.new_output(f"{metadata.location}/metadata/{HINT}")
            with hint.create(overwrite=True) as file:
                file.write(str(version).encode())
            return CommitTableResponse.model_validate(
                {"metadata": metadata, "metadata-location": address}
            )

    return FolderCatalog("folder")
