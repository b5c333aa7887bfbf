"""SQLite on the JVM, as in the published program."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """SQLite as in J. Ommer's program (QAware, 2021): columns of the type `string`, read by their names.

    That type has the affinity NUMERIC (https://www.sqlite.org/datatype3.html): the text 057 becomes the
    number 57. The file is compressed byte by byte.
    """

    label = "SQLite[jvm-seed]"
    suffix = ".sqlite"
    requires = ()
    format_name = "sqlite-seed"
    artifacts = ("sqlite-jdbc",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    seeks = ""
    refuses_nested = "a table has flat records"
    loses_values = "texts of digits lose leading zeros, and become numbers"
    # A page that is cut short is filled with zeros.
    detects_truncation = False
