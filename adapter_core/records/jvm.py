"""Record formats of the JVM: a new JVM for each cell.

The driver is the class `formatbench.Main` of a Maven module; requests and answers are lines of JSON.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from adapter_core import Availability, Codec, RecordType, Trait, UnavailableError
from adapter_core.codec_choice import CodecChoice
from adapter_core.file_facts import FileFacts
from adapter_core.records.maven import TOOLCHAIN_HINT, JavaHome, MavenModule, find_java, java_environment

MAIN_CLASS = "formatbench.Main"
HEAP_GIB = 4
"""Size of the heap unless another one is given: enough for 1,000,000 records of each format."""
OUT_OF_MEMORY_STATUS = 3
"""Exit status of a JVM with `-XX:+ExitOnOutOfMemoryError`."""

GZIP = Codec("gzip")
ZSTD = Codec("zstd")

# Switches for libraries that reach into the JDK, by the first version of it that accepts them.
_ACCESS = {
    0: "--add-opens=java.base/java.nio=ALL-UNNAMED",
    22: "--enable-native-access=ALL-UNNAMED",
    24: "--sun-misc-unsafe-memory-access=allow",
}


@dataclass(frozen=True)
class JvmRequest:
    """A request to the driver."""

    operation: str
    """One of "generate", "write", "read", "check", "iterate", "use", "entry" and "layout"."""
    dataset: str
    """Data set to write, or whose records a file contains."""
    rows: int = 0
    """Number of records to make."""
    path: Path = Path()
    """File or folder to write or to read."""
    codec: str | None = None
    """Codec; None without compression."""
    calls: int = 1
    """Number of calls, in the same JVM."""
    most_calls: int = 0
    """Number up to which further calls follow until they are steady; none by default."""
    most_seconds: float = 0.0
    """Seconds after which no further call starts, all between the calls included."""
    position: int = 0
    """Position of a single record to read, from 0."""
    format_name: str = ""
    """Format, if another store runs the request."""
    schema: str = ""
    """Avro schema of records that no data set has; empty for those of one."""
    records: Path = Path()
    """File of such records to write, in the bytes of their digest."""

    def to_json(self, format_name: str) -> str:
        """Return the line for the driver, with the format of a store unless the request has its own."""
        return json.dumps(
            {
                "operation": self.operation,
                "format": self.format_name or format_name,
                "codec": self.codec or "none",
                "dataset": self.dataset,
                "rows": self.rows,
                "path": str(self.path.absolute()),
                "calls": self.calls,
                "most_calls": self.most_calls,
                "most_seconds": self.most_seconds,
                "position": self.position,
                "schema": self.schema,
                "records": str(self.records.absolute()),
            }
        )


class JvmStore(CodecChoice):
    """A record format of the JVM.

    Its facts are an entry of the table in the folder of the Maven module that has its Java class, or, in
    other packages, attributes of a subclass that lies beside this folder, which is then called `jvm`.

    Parameters
    ----------
    facts : mapping
        Entry of the table: `name` is the format's, `description` the docstring, `files` are fields of
        `FileFacts`, the others are attributes.
    folder : Path, optional
        Folder of the table.
    """

    requires: ClassVar[tuple[str, ...]] = ()
    language = "java"
    format_name: ClassVar[str]
    """Name of the format for the driver: its class is `AvroGenericFormat` for "avro-generic"."""
    codecs: ClassVar[tuple[Codec, ...]] = (GZIP, ZSTD)
    """Codecs around the file, or the format's own of these names."""
    refuses_nested: ClassVar[str] = ""
    """Reason why optional, repeated and nested fields are not supported; empty if they are."""
    refuses_own: ClassVar[str] = "its records here are of classes, which data do not bring"
    """Reason why records of types that are given as data are not supported; empty if they are."""
    refuses: ClassVar[Mapping[str, str]] = {}
    """Kinds and shapes of fields of such records that are not supported, each with the reason."""
    loses_values: ClassVar[str] = ""
    """Values that come back as other ones, as a clause; empty if all come back."""
    seeks: ClassVar[str] = "its records have no index"
    """Reason why a record cannot be read by position without those before it; empty if it can."""
    detects_truncation: ClassVar[bool] = True
    """True if reading a truncated file always raises; else records may be missing without an error."""
    lazy: ClassVar[str] = ""
    """Work that is left until a field is used, as a clause; empty if there is none."""
    runs_code: ClassVar[str] = ""
    """Code that reading a hostile file may run, as a sentence; empty if none."""
    newest_java: ClassVar[int | None] = None
    """Last feature release of Java that its library runs on; None without a limit."""
    artifacts: ClassVar[tuple[str, ...]]
    """Names of the jars that it is made of, without versions."""
    file_facts = FileFacts(silent="its driver writes the file, in another process and language")
    snippet = "it is written in Java: its calls are in the class of the driver in record_stores/jvm"

    def __init__(self, facts: Mapping[str, Any] | None = None, folder: Path | None = None) -> None:
        self._folder = folder or Path(inspect.getfile(type(self))).parent / "jvm"
        if facts is not None:
            vars(self).update(_attributes(facts))

    @property
    def module(self) -> MavenModule:
        """The Maven module that has its Java class."""
        return MavenModule(self._folder)

    def availability(self) -> Availability:
        """Report whether Java is there, and the Maven module built; nothing is built by it."""
        answer = self.module.availability()
        java = find_java()
        if not answer or java is None:
            return answer
        if self.newest_java is not None and java.major > self.newest_java:
            reason = f"it needs Java {self.newest_java} or older, {java.java} is {java.version}"
            return Availability(available=False, reason=reason, install_hint=TOOLCHAIN_HINT)
        versions = _jar_versions(self.module.built(java))
        return Availability(
            available=True,
            versions={**answer.versions, **{each: versions.get(each, "") for each in self.artifacts}},
        )

    def installed(self) -> Availability:
        """Report the same as `availability`, which imports nothing."""
        return self.availability()

    def refusal(self, of: RecordType) -> str:
        """Return why the store cannot keep records of a type that is given as data; empty if it may."""
        reason = self.refuses_own or of.refused(self.refuses)
        return f"{self.label} cannot store these records: {reason}" if reason else ""

    def run(
        self, request: JvmRequest, limit_seconds: float, heap_gib: int = HEAP_GIB
    ) -> list[dict[str, Any]]:
        """Serve one request in a new JVM, and return its answers.

        The first one is "ready"; the last one is "end", or else one of "crashed", "out of memory" and
        "timed out", with a sentence.

        Parameters
        ----------
        request : JvmRequest
            Operation of this format.
        limit_seconds : float
            Time after which the JVM is killed.
        heap_gib : int
            Size of the heap in GiB, from the start on.

        Raises
        ------
        UnavailableError
            If Java is missing, or the module has not been built.
        """
        return self.run_all([request], limit_seconds, heap_gib)[0]

    def run_all(
        self,
        requests: Sequence[JvmRequest],
        limit_seconds: float,
        heap_gib: int = HEAP_GIB,
        class_path: Sequence[Path] = (),
        flags: Sequence[str] = (),
    ) -> list[list[dict[str, Any]]]:
        """Serve several requests in one JVM, and return the answers to each; see `run`.

        There are none for requests after one that ended the JVM.

        Parameters
        ----------
        requests : sequence of JvmRequest
            Requests; one with a `format_name` of its own may be of another format.
        limit_seconds : float
            Time after which the JVM is killed.
        heap_gib : int
            Size of the heap in GiB, from the start on.
        class_path : sequence of Path
            Further folders or jars with classes.
        flags : sequence of str
            Further flags of the JVM.
        """
        answer = self.availability()
        java = find_java()
        jars = self.module.built(java) if java else None
        if not answer or java is None or jars is None:
            raise UnavailableError(self.label, answer.reason, answer.install_hint)
        lines = [each.to_json(self.format_name) for each in requests]
        # The runner removes folders called format-bench-* that no runner has locked.
        with tempfile.TemporaryDirectory(prefix="formatbench-jvm-") as scratch:
            command = [str(java.java), *jvm_flags(java, heap_gib, scratch), *flags]
            command += ["-cp", os.pathsep.join(map(str, [*class_path, *sorted(jars.glob("*.jar"))]))]
            found = _run([*command, MAIN_CLASS], lines, limit_seconds, Path(scratch))
        answers: list[list[dict[str, Any]]] = [[]]
        for each in found:
            if answers[-1] and answers[-1][-1]["event"] == "end":
                answers.append([])
            answers[-1].append(each)
        return answers


def _attributes(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a store by the facts of its entry.

    Raises
    ------
    TypeError
        If a store has no such fact: a misspelled one would be ignored.
    """
    declared = {name for base in JvmStore.__mro__ for name in inspect.get_annotations(base)}
    found = {}
    for fact, value in facts.items():
        renamed = {"name": "format_name", "description": "__doc__", "files": "file_facts"}
        name = renamed.get(fact, fact)
        if name not in {*declared, "__doc__"}:
            raise TypeError(f"the record format {facts['name']!r} of the JVM has no fact {fact!r}")
        # Attributes are immutable, and TOML has lists.
        found[name] = tuple(value) if isinstance(value, list) else value
    if "files" in facts:
        found["file_facts"] = FileFacts(**facts["files"])
    return {**found, "traits": frozenset(map(Trait, facts["traits"]))}


def _run(
    command: list[str], lines: Sequence[str], limit_seconds: float, scratch: Path
) -> list[dict[str, Any]]:
    errors = scratch / "stderr"
    timed_out = False
    with (
        errors.open("wb") as stderr,
        subprocess.Popen(  # noqa: S603 (a program of the user)
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            cwd=scratch,
            env=java_environment(),
            # A group of its own, which is killed whole.
            start_new_session=True,
        ) as process,
    ):
        try:
            output, _ = process.communicate("\n".join(lines).encode() + b"\n", limit_seconds)
        except subprocess.TimeoutExpired:
            timed_out = True
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    answers = list(_answers(output))
    if timed_out:
        return [*answers, _ending("timed out", f"the JVM was killed after {limit_seconds:g} s")]
    if process.returncode == OUT_OF_MEMORY_STATUS:
        return [*answers, _ending("out of memory", "the heap of the JVM does not suffice")]
    if process.returncode or sum(each["event"] == "end" for each in answers) < len(lines):
        last = (errors.read_text(encoding="utf-8", errors="replace").strip().splitlines() or [""])[-1]
        reason = f"the JVM ended with status {process.returncode}{': ' if last else ''}{last}"
        return [*answers, _ending("crashed", reason)]
    return answers


def jvm_flags(java: JavaHome, heap_gib: int, scratch: str) -> list[str]:
    """Return the flags of a JVM that measures: heap of one size, serial collector, files in a folder."""
    return [
        f"-Xms{heap_gib}g",
        f"-Xmx{heap_gib}g",
        # It moves objects in each full collection, and readings of the heap repeat to the byte.
        "-XX:+UseSerialGC",
        "-XX:MarkSweepAlwaysCompactCount=1",
        "-XX:+ExitOnOutOfMemoryError",
        f"-XX:ErrorFile={scratch}/crash.log",
        f"-Djava.io.tmpdir={scratch}",
        # Avro makes objects of no other generated classes.
        "-Dorg.apache.avro.SERIALIZABLE_PACKAGES=formatbench.avro",
        *(flag for since, flag in _ACCESS.items() if java.major >= since),
    ]


def _answers(output: bytes) -> Iterator[dict[str, Any]]:
    for line in output.decode(errors="replace").splitlines():
        # Native code of a library may print between the lines, and a killed JVM leaves half of one.
        try:
            answer = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(answer, dict) and "event" in answer:
            yield answer


def _ending(event: str, sentence: str) -> dict[str, Any]:
    return {"event": event, "sentence": sentence}


def _jar_versions(folder: Path | None) -> dict[str, str]:
    if folder is None:
        return {}
    found = (re.fullmatch(r"(.+?)-(\d.*)\.jar", jar.name) for jar in folder.glob("*.jar"))
    return {match[1]: match[2] for match in found if match}
