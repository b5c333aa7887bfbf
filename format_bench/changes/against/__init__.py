"""Two versions of one library, measured in turn: verdicts, and the release and script of a change."""
