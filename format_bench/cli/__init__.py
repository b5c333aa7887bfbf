"""The command `format-bench`: one module per command."""

import sys

if sys.platform == "win32":
    # Measuring processes are forked, and results are locked by flock: nothing below could be imported.
    sys.stderr.write("format-bench: Windows lacks fork and flock; run it in WSL or a container\n")
    sys.exit(2)
