"""Java and Maven on this machine, and a Maven module that is built once and kept in the user's cache."""

from __future__ import annotations

import fcntl
import filecmp
import functools
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from adapter_core import Availability, UnavailableError
from adapter_core.files import partial_path, remove, user_cache

# As `maven.compiler.release` of record_stores/jvm/pom.xml.
OLDEST_JAVA = 17
# The first build downloads Maven's plugins and the libraries of all formats.
BUILD_LIMIT_SECONDS = 1200

TOOLCHAIN_HINT = "apt-get install openjdk-17-jdk-headless maven"
BUILD_HINT = "format-bench build jvm"

# Each adds arguments to those given, which are circumstances of a measurement.
_HIDDEN_ARGUMENTS = ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH")


@dataclass(frozen=True)
class JavaHome:
    """A Java runtime, with a compiler or without.

    Parameters
    ----------
    java : Path
        The program `java`.
    version : str
        Its version, e.g. "17.0.15".
    """

    java: Path
    version: str

    @property
    def major(self) -> int:
        """Feature release, e.g. 17."""
        return int(re.match(r"\d+", self.version)[0])  # type: ignore[index]

    @property
    def has_compiler(self) -> bool:
        """True for a JDK, False for a runtime alone."""
        return (self.java.parent / "javac").is_file()


def find_java() -> JavaHome | None:
    """Return the first Java of FORMAT_BENCH_JAVA, JAVA_HOME and PATH that works; None without one.

    FORMAT_BENCH_JAVA is the program `java`, or the folder that has it as `bin/java`.
    """
    places = [os.environ.get("FORMAT_BENCH_JAVA"), os.environ.get("JAVA_HOME"), shutil.which("java")]
    for place in filter(None, places):
        for program in (Path(place), Path(place, "bin", "java")):
            if program.is_file() and os.access(program, os.X_OK):
                version = _java_version(program.resolve())
                if version:
                    return JavaHome(program.resolve(), version)
    return None


@functools.cache
def _java_version(program: Path) -> str:
    try:
        # Nothing of the class libraries is loaded for it: a tenth of a second.
        done = subprocess.run(  # noqa: S603 (a program of the user)
            [program, "-version"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=java_environment(),
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(r'version "(\d[^"]*)"', done.stderr)
    return found[1] if found else ""


class MavenModule:
    """A Maven module whose jars are kept in the user's cache.

    Parameters
    ----------
    folder : Path
        The folder of pom.xml and src.
    profile : str, optional
        Profile of Maven to build with, whose jars are kept apart.
    """

    def __init__(self, folder: Path, profile: str = "") -> None:
        self.folder, self.profile = folder, profile

    def availability(self) -> Availability:
        """Report whether the module is built, for the Java that is used here."""
        java = find_java()
        if java is not None and java.major >= OLDEST_JAVA and self.built(java) is not None:
            return Availability(available=True, versions={"java": java.version})
        lacking = self.toolchain()
        if not lacking:
            return lacking
        reason = "its Java part has not been built"
        return Availability(available=False, reason=reason, install_hint=BUILD_HINT)

    def toolchain(self) -> Availability:
        """Report whether a JDK and Maven are there to build the module."""
        java = find_java()
        if java is None:
            reason = "there is no Java"
        elif java.major < OLDEST_JAVA:
            reason = f"Java {OLDEST_JAVA} or newer is needed, {java.java} is {java.version}"
        elif not java.has_compiler:
            reason = f"its Java part has not been built, and {java.java} has no compiler beside it"
        elif shutil.which("mvn") is None:
            reason = "its Java part has not been built, and there is no Maven"
        else:
            return Availability(available=True, versions={"java": java.version})
        return Availability(available=False, reason=reason, install_hint=TOOLCHAIN_HINT)

    def built(self, java: JavaHome) -> Path | None:
        """Return the folder of the jars; None if the module has not been built for this Java."""
        folder = self._cache_folder(java)
        return folder if folder.is_dir() else None

    def build(self) -> Path:
        """Build the module with Maven, unless it is there already, and return the folder of the jars.

        Two processes that build at once wait for each other; a build that fails leaves nothing. Jars of
        other states of the sources are shared: they take no further space.

        Raises
        ------
        UnavailableError
            If the JDK or Maven is missing, or if the build fails; the message contains the first error.
        """
        java = find_java()
        answer = self.availability() or self.toolchain()
        if java is None or not answer:
            raise UnavailableError("the Java part of records", answer.reason, answer.install_hint)
        folder = self._cache_folder(java)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder.with_suffix(".lock")):
            if not folder.is_dir():
                self._build(java, folder)
        return folder

    def compile(self, sources: Iterable[Path], classes: Path) -> None:
        """Compile further source code, which refers to the module and its libraries.

        Parameters
        ----------
        sources : iterable of Path
            Files.
        classes : Path
            Folder for the classes.

        Raises
        ------
        UnavailableError
            If the module has not been built, or if the compiler is missing.
        CalledProcessError
            If the code is not correct; its `stderr` has the errors.
        """
        answer, java = self.availability(), find_java()
        jars = self.built(java) if java else None
        if java is None or jars is None:
            raise UnavailableError("the Java part of records", answer.reason, answer.install_hint)
        if not java.has_compiler:
            reason = f"{java.java} has none beside it"
            raise UnavailableError("the compiler of Java", reason, TOOLCHAIN_HINT)
        compiler = str(java.java.parent / "javac")
        subprocess.run(  # noqa: S603 (a program of the user)
            [
                compiler,
                "-J-XX:TieredStopAtLevel=1",
                "-proc:none",
                "--release",
                str(OLDEST_JAVA),
                "-cp",
                f"{jars}/*",
                "-d",
                classes,
                *sources,
            ],
            capture_output=True,
            check=True,
            env=java_environment(),
        )

    def _build(self, java: JavaHome, folder: Path) -> None:
        maven = shutil.which("mvn") or "mvn"
        profile = ["--activate-profiles", self.profile] if self.profile else []
        partial = partial_path(folder, "")
        try:
            # Maven writes beside its sources, which may be installed where nobody may write.
            shutil.copytree(self.folder / "src", partial / "src")
            shutil.copy(self.folder / "pom.xml", partial)
            done = subprocess.run(  # noqa: S603 (a program of the user)
                [maven, "--batch-mode", "--quiet", "--file", partial / "pom.xml", *profile, "package"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=BUILD_LIMIT_SECONDS,
                check=False,
                env={**java_environment(), "JAVA_HOME": str(java.java.parent.parent)},
            )
            if done.returncode:
                reason = f"Maven failed: {_first_error(done.stdout + done.stderr)}"
                raise UnavailableError("the Java part of records", reason, BUILD_HINT)
            target = partial / "target"
            jars = target / "lib"
            for jar in target.glob("*.jar"):
                jar.replace(jars / jar.name)
            _share(jars, folder.parent)
            jars.replace(folder)
        finally:
            remove(partial)

    def _cache_folder(self, java: JavaHome) -> Path:
        name = "-".join(filter(None, [self._sources_digest()[:16], f"java{java.major}", self.profile]))
        return user_cache() / "jvm" / name

    def _sources_digest(self) -> str:
        found = hashlib.sha256()
        for file in [self.folder / "pom.xml", *sorted((self.folder / "src").rglob("*"))]:
            if file.is_file():
                content = file.read_bytes()
                found.update(f"{file.relative_to(self.folder)}\0{len(content)}\0".encode())
                found.update(content)
        return found.hexdigest()


def _share(jars: Path, cache: Path) -> None:
    """Replace jars by links to equal ones of folders in the cache: nearly all are libraries."""
    for jar in jars.glob("*.jar"):
        for other in cache.glob(f"*/{jar.name}"):
            # A folder that another process removes meanwhile, or a file system without links.
            with suppress(OSError):
                if filecmp.cmp(jar, other, shallow=False):
                    link = jar.with_suffix(".link")
                    link.hardlink_to(other)
                    link.replace(jar)
                    break


def java_environment() -> dict[str, str]:
    """Return the environment without variables that add arguments to each call of Java."""
    return {name: value for name, value in os.environ.items() if name not in _HIDDEN_ARGUMENTS}


def _first_error(output: str) -> str:
    lines = (line.strip() for line in output.splitlines())
    return next(
        (line.removeprefix("[ERROR]").strip() for line in lines if line.startswith("[ERROR]")), ""
    )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
