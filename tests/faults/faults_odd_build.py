"""A build as a process of its own: its arguments, then one line with its exit code and the most memory that it had."""

import resource
import sys

from synth.cli import main

if __name__ == "__main__":
    code: object = 0
    try:
        main(sys.argv[1:])
    except SystemExit as end:
        code = end.code or 0
    print(f"{code} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}")
