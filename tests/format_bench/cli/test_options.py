"""Limits of reading own data: each command that reads them takes the options, and names one to raise."""

from __future__ import annotations

import numpy as np
import pytest
from click.shell_completion import ShellComplete

from format_bench.cli.main import format_bench, main

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


def completed(*arguments):
    *words, incomplete = arguments
    found = ShellComplete(format_bench, {}, "format-bench", "_FORMAT_BENCH_COMPLETE")
    return [each.value for each in found.get_completions(list(words), incomplete)]


def test_codecs_and_values_of_conditions_are_completed():
    assert "zstd" in completed("run", "--codecs", "z")
    assert "none,zstd" in completed("run", "--codecs", "none,zst")
    assert "snappy" in completed("show", "Parquet", "--codec", "snap")
    assert completed("run", "--settings", "") == ["defaults", "recommended", "tuned"]
    assert completed("run", "--threads", "1,a") == ["1,all"]
    assert completed("run", "--writer", "parquet[p") == ["Parquet[polars]"]
    assert completed("run", "--memory-limit", "") == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--suite", "tabulr"], "'tabulr' is none of its values; did you mean tabular?"),
        (["list", "dataset"], "'dataset' is none of its values; did you mean datasets"),
        (["recommend", "--preset", "traning"], "did you mean training?"),
        (["run", "--settings", "default"], "--settings default: did you mean defaults?"),
        (["run", "--checksums", "of"], "--checksums of: did you mean off?"),
        (["study", "scaling", "--medium", "moon"], "'moon' is not one of"),
    ],
)
def test_a_mistyped_value_is_answered_with_the_nearest(arguments, words, call):
    line = call(*arguments)
    assert words in line
    assert line.count("\n") == 1
