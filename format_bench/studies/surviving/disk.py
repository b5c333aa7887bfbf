"""Model of a folder on a disk: the effects of file calls, and of a power cut.

The model of persistence is plain (docs/survival.md): a sync of a file brings its bytes to the device,
and all changes of names and lengths made before, as the journals of ext4 and XFS do. No more is certain.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from format_bench.instruments.file_calls import FileCall, Kind

Tree = dict[str, bytes | None]
"""Content of files by path, and None for folders."""


class _File:
    """Content of a file."""

    def __init__(self, content: bytes = b"") -> None:
        self.data = bytearray(content)
        """As programs see it."""
        self.bare = bytearray(content)
        """Without the bytes written since the last sync, but of the length that calls gave it."""
        self.safe = content
        """As it is on the device."""

    def resize(self, length: int) -> None:
        """Cut the file, or add zeros."""
        for each in (self.data, self.bare):
            del each[length:]
            each.extend(bytes(length - len(each)))


class Disk:
    """A folder, all of which is on the device at first.

    Parameters
    ----------
    content : mapping
        The files in it.
    """

    def __init__(self, content: Mapping[str, bytes | None]) -> None:
        self._names = {path: None if found is None else _File(found) for path, found in content.items()}
        self._safe_names = dict(self._names)
        self._last: tuple[_File, int, bytes] | None = None
        """The last write: the file, the offset, the bytes."""

    def apply(self, call: FileCall) -> None:
        """Do as a call; one that fails does nothing."""
        match call.kind:
            case Kind.OPEN:
                self._open(call)
            case Kind.WRITE | Kind.STORE:
                if isinstance(file := self._names.get(call.path), _File):
                    _put(file.data, call.at, call.data)
                    self._last = file, call.at, call.data
                    if call.is_synced:
                        self._sync(call)
            case Kind.RESIZE:
                if isinstance(file := self._names.get(call.path), _File):
                    file.resize(call.at)
            case Kind.SYNC:
                self._sync(call)
            case _:
                self._change_names(call)

    def _open(self, call: FileCall) -> None:
        if call.path in self._names:
            file = self._names[call.path]
            if call.empties and file is not None and not (call.creates and call.is_exclusive):
                file.resize(0)
        elif call.creates and self._has_parent(call.path):
            self._names[call.path] = _File()

    def _change_names(self, call: FileCall) -> None:
        names, path, new = self._names, call.path, call.new_path
        if call.kind is Kind.MKDIR:
            if path not in names and self._has_parent(path):
                names[path] = None
        elif path not in names:
            return
        elif call.kind is Kind.UNLINK:
            if names[path] is not None:
                del names[path]
        elif call.kind is Kind.RMDIR:
            if names[path] is None and not self._inside(path):
                del names[path]
        elif not (call.is_exclusive and new in names) and self._has_parent(new):
            if call.kind is Kind.LINK:
                names[new] = names[path]
            else:
                self._rename(path, new)

    def _rename(self, path: str, new: str) -> None:
        if not self._inside(new):
            moved = {path: new, **{each: new + each[len(path) :] for each in self._inside(path)}}
            found = {moved[each]: self._names.pop(each) for each in moved}
            self._names.update(found)

    def _inside(self, folder: str) -> list[str]:
        return [each for each in self._names if each.startswith(f"{folder}/")]

    def _has_parent(self, path: str) -> bool:
        parent = str(PurePosixPath(path).parent)
        return parent == "." or (parent in self._names and self._names[parent] is None)

    def _sync(self, call: FileCall) -> None:
        for path, file in self._names.items():
            if file is not None:
                if call.of_all or path == call.path:
                    file.bare[:] = file.data
                file.safe = bytes(file.bare)
        self._safe_names = dict(self._names)

    def now(self, part: FileCall | None = None, length: int = 0) -> Tree:
        """Return the files as programs see them, so after a kill.

        Parameters
        ----------
        part : FileCall, optional
            A further write that was interrupted.
        length : int
            Bytes that it has written.
        """
        found: Tree = {path: None if file is None else bytes(file.data) for path, file in self._items()}
        before = found.get(part.path) if part else None
        if part and before is not None:
            content = bytearray(before)
            _put(content, part.at, part.data[:length])
            found[part.path] = bytes(content)
        return found

    def synced(self) -> Tree:
        """Return the files after a power cut, if nothing but the synced reached the device."""
        return {path: None if file is None else file.safe for path, file in self._safe_names.items()}

    def names_first(self) -> Tree:
        """Return the files after a power cut, if names and lengths reached the device, but no bytes."""
        return {path: None if file is None else bytes(file.bare) for path, file in self._items()}

    def last_first(self) -> Tree:
        """Return the files after a power cut, if of the bytes only the last write reached the device."""
        found: Tree = {}
        for path, file in self._items():
            content = bytearray(b"" if file is None else file.bare)
            if file is not None and self._last and file is self._last[0]:
                content.extend(bytes(max(0, len(file.data) - len(content))))
                content[:] = content[: len(file.data)]
                # What was written there later, as by a truncation, counts.
                at, end = self._last[1], self._last[1] + len(self._last[2])
                content[at:end] = file.data[at:end]
            found[path] = None if file is None else bytes(content)
        return found

    def _items(self) -> list[tuple[str, _File | None]]:
        return list(self._names.items())


def _put(content: bytearray, at: int, data: bytes) -> None:
    content.extend(bytes(max(0, at - len(content))))
    content[at : at + len(data)] = data


def tree_of(folder: Path) -> Tree:
    """Return all files and folders below a folder."""
    found = sorted(folder.rglob("*"))
    return {
        each.relative_to(folder).as_posix(): None if each.is_dir() else each.read_bytes()
        for each in found
    }


def write_tree(tree: Tree, folder: Path) -> None:
    """Make a folder contain these files, and nothing else."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    for path in sorted(tree):
        content = tree[path]
        if content is None:
            (folder / path).mkdir(parents=True, exist_ok=True)
        else:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
