"""Print the first sheet of a file in canonical form: the texts that LibreOffice shows in its cells."""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

# Fields end at commas (44), texts are quoted (34), in UTF-8 (76), from line 1, as the cells are shown.
FILTER = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true"


def main() -> None:
    """Print the table of the file that the command line names."""
    source = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        # A profile of its own: two processes cannot share one.
        profile = f"-env:UserInstallation={Path(folder, 'profile').as_uri()}"
        command = [
            "soffice",
            profile,
            "--headless",
            "--convert-to",
            FILTER,
            "--outdir",
            folder,
            str(source),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        made = Path(folder, f"{source.stem}.csv")
        # Its status is 0 also for files that it does not open.
        if not made.exists():
            sys.exit(done.stderr.strip() or "no table came")
        with made.open(encoding="utf-8", newline="") as file:
            names, *rows = csv.reader(file)
    print(json.dumps({"columns": [{"name": name, "type": "utf8"} for name in names], "rows": len(rows)}))
    for row in rows:
        print(json.dumps(row))


if __name__ == "__main__":
    main()
