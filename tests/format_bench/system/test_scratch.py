"""Scratch folders: which are removed, and which stay."""

from __future__ import annotations

import os
import signal
import tempfile
import time

import pytest

from format_bench.system.scratch import remove_abandoned, scratch_folder
from format_bench.system.signals import EndingSignals


def test_folders_without_a_process_are_removed_and_others_stay(tmp_path):
    with scratch_folder(tmp_path) as alive:
        (tmp_path / "format-bench-dead" / "case").mkdir(parents=True)
        (tmp_path / "other").mkdir()
        remove_abandoned(tmp_path)
        assert {each.name for each in tmp_path.iterdir()} == {alive.name, "other"}
    assert [each.name for each in tmp_path.iterdir()] == ["other"]


def test_a_folder_whose_process_was_killed_before_it_was_locked_is_removed_later(tmp_path):
    hidden = tmp_path / ".format-bench-new"
    hidden.mkdir()
    remove_abandoned(tmp_path)
    assert hidden.exists()
    long_ago = time.time() - 600
    os.utime(hidden, (long_ago, long_ago))
    remove_abandoned(tmp_path)
    assert not hidden.exists()


def test_a_signal_while_a_folder_is_made_leaves_none(tmp_path, monkeypatch):
    make = tempfile.mkdtemp

    def interrupted(**arguments):
        signal.raise_signal(signal.SIGTERM)
        return make(**arguments)

    monkeypatch.setattr(tempfile, "mkdtemp", interrupted)
    with EndingSignals(), pytest.raises(KeyboardInterrupt), scratch_folder(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_link_with_the_name_of_a_folder_stays(tmp_path):
    victim = tmp_path / "victim"
    victim.mkdir()
    (tmp_path / "format-bench-link").symlink_to(victim)
    remove_abandoned(tmp_path)
    assert victim.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes folders of other users")
def test_folders_of_other_users_stay(tmp_path):
    theirs = tmp_path / "format-bench-theirs"
    theirs.mkdir(mode=0o700)
    os.chown(theirs, 65534, 65534)
    remove_abandoned(tmp_path)
    assert theirs.exists()
