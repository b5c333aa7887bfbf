"""Print the first sheet of files in canonical form: the texts that LibreOffice shows in its cells."""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

# Fields end at commas (44), texts are quoted (34), in UTF-8 (76), from line 1, as the cells are shown.
WRITTEN = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true"

# A window asks for the encoding, whose default is the locale's.
READ = "Text - txt - csv (StarCalc):44,34,76,1"

# A start takes seconds; the tables of those before are printed if one ends it.
AT_ONCE = 20


def main() -> None:
    """Print the tables of the files that the command line names."""
    paths = [Path(each) for each in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        for start in range(0, len(paths), AT_ONCE):
            convert(paths[start : start + AT_ONCE], Path(folder))


def convert(paths: list[Path], folder: Path) -> None:
    """Print the tables of some files, whose names differ."""
    # A profile of its own: two processes cannot share one.
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    options = ["--headless", "--convert-to", WRITTEN, "--outdir", str(folder)]
    if paths[0].suffix == ".csv":
        options.insert(0, f"--infilter={READ}")
    command = ["soffice", profile, *options, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for path in paths:
        made = folder / f"{path.stem}.csv"
        if made.exists():
            show(made)
        elif done.returncode:
            sys.exit(done.stderr.strip() or f"soffice ended with status {done.returncode}")
        else:  # the status is 0 also for files that it does not open
            print(json.dumps({"error": "soffice made no table of the file"}), flush=True)


def show(made: Path) -> None:
    """Print a converted table."""
    with made.open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    print(json.dumps({"columns": [{"name": name, "type": "utf8"} for name in names], "rows": len(rows)}))
    for row in rows:
        print(json.dumps(row))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
