"""Limits of reading own data: each command that reads them takes the options, and names one to raise."""

from __future__ import annotations

import numpy as np
import pytest

from format_bench.cli.main import main

COMMANDS = {
    "run": ["--data", "t.csv", "--out", "out"],
    "recommend": ["--data", "t.csv"],
    "profile": ["t.csv"],
    "plan": ["mix.toml", "--data", "a.npy"],
}
LIMITS = {
    "--data-seconds": ("0.001", "takes more than 0.001 seconds to read"),
    "--data-memory": ("1M", "takes more than 1.0 MB of memory to read"),
    "--data-disk": ("1K", "takes more than 1.0 kB of disk to read"),
}


@pytest.fixture
def call(tmp_path, monkeypatch, capfd):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 10_000, encoding="utf-8")
    (tmp_path / "mix.toml").write_text('[[query]]\nname = "q"\ndim_0 = 1\n', encoding="utf-8")
    np.save(tmp_path / "a.npy", np.zeros((10, 100)))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        said = capfd.readouterr()
        assert ended.value.code == 2
        assert said.out == ""
        return said.err

    return run


@pytest.mark.parametrize("command", COMMANDS)
def test_a_limit_that_is_reached_is_one_line_and_status_2(command, call):
    for option, (value, words) in LIMITS.items():
        if command == "plan" and option == "--data-disk":
            continue  # its first process leaves nothing
        line = call(command, *COMMANDS[command], option, value)
        assert line.count("\n") == 1
        assert words in line
        assert line.endswith(f"allow more by {option}\n")


@pytest.mark.parametrize(
    "arguments", [["run"], ["recommend"], ["plan", "mix.toml", "--dataset", "wind"]]
)
def test_limits_without_data_are_refused(arguments, call):
    assert "need --data" in call(*arguments, "--data-memory", "1G")
