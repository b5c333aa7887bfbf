"""Environments of adapters whose libraries do not install together with the library set.

An adapter names one; a lock in the folder `environments` has its packages. The interpreter of the
environment measures the adapter, on these sources.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import sys
from collections.abc import Iterator
from pathlib import Path

from adapter_core.availability import Availability, probe
from adapter_core.errors import UnavailableError
from adapter_core.files import user_cache

LOCKS = Path(__file__).resolve().parents[1] / "environments"
"""Folder of the locks. It is installed too, as each commit is measured with its own."""


class VirtualEnvironment:
    """Interpreter and packages in a folder, which may not exist."""

    def __init__(self, place: Path) -> None:
        self.place = place

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.place / "bin" / "python"

    @property
    def python_version(self) -> str:
        """Version of its interpreter; "?" if it is not known."""
        facts = dict(_facts(self.place / "pyvenv.cfg"))
        return facts.get("version") or facts.get("version_info") or "?"

    @property
    def is_running(self) -> bool:
        """True in a process of its interpreter."""
        return Path(sys.prefix).resolve() == self.place.resolve()

    def version_of(self, name: str) -> str | None:
        """Return the version of a distribution in it; None if it is missing."""
        return version_on(name, tuple(map(str, self.place.glob("lib/python*/site-packages"))))


class OwnEnvironment(VirtualEnvironment):
    """Environment in the user's cache, made of a lock; each state of the lock has a folder of its own.

    Parameters
    ----------
    name : str
        The name, as adapters declare it.
    """

    def __init__(self, name: str) -> None:
        python = f"python{sys.version_info.major}.{sys.version_info.minor}"
        self.name = name
        self.lock = LOCKS / f"{name}.txt"
        """The file of its packages, with hashes."""
        state = hashlib.sha256(self.lock.read_bytes()).hexdigest()[:12] if self.lock.exists() else ""
        super().__init__(user_cache() / "environments" / f"{name}-{state}-{python}")

    @property
    def build_hint(self) -> str:
        """The command that builds it."""
        return f"format-bench build environment {self.name}"

    def built(self) -> Availability:
        """Report whether it is built."""
        if self.python.exists():
            return Availability(available=True)
        lacks = "is not built" if self.lock.exists() else f"has no lock environments/{self.lock.name}"
        reason = f"its environment {self.name} {lacks}"
        return Availability(available=False, reason=reason, install_hint=self.build_hint)

    def installed(self, requires: tuple[str, ...]) -> Availability:
        """Report whether it is built, and the versions of the required packages in it."""
        answer = self.built()
        if not answer:
            return answer
        return probe(requires, {}, self.build_hint, lambda _: "", self.version_of)

    def from_here(self, found: Availability) -> Availability:
        """Return the availability of an adapter in this process, given whether its packages are here."""
        if found or self.is_running:
            return found
        answer = self.built()
        if not answer:
            return answer
        reason = f"its libraries are in its environment {self.name}, whose interpreter measures it"
        return Availability(available=False, reason=reason, install_hint="format-bench run")

    def interpreter(self, label: str) -> str:
        """Return the path of its Python, for an adapter.

        Raises
        ------
        UnavailableError
            If it is not built.
        """
        answer = self.built()
        if not answer:
            raise UnavailableError(label, answer.reason, answer.install_hint)
        return str(self.python)


@functools.cache
def version_on(name: str, path: tuple[str, ...]) -> str | None:
    """Return the version of a distribution in some folders of packages; None if it is missing."""
    # Nothing is imported here: a library under test may crash.
    found = importlib.metadata.distributions(name=name, path=list(path))
    return next((each.version for each in found), None)


def names() -> list[str]:
    """Return the names of all environments that have a lock."""
    return sorted(each.stem for each in LOCKS.glob("*.txt"))


def _facts(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        name, _, value = line.partition("=")
        yield name.strip(), value.strip()
