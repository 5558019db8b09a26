"""Record the hashes of new prompt files in prompts/lock.json. A released prompt never changes and never goes.

The fast suite compares (tests/prompting); this only adds.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def refused(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """What must not be recorded, a line each."""
    lines = []
    for name in sorted(old):
        if name not in new:
            lines.append(f"prompt {name}: was released and is gone; put it back")
        elif old[name] != new[name]:
            lines.append(f"prompt {name}: was released and changed; put it back and add a new version")
    return lines


def main(folder: Path) -> int:
    lock = folder / "lock.json"
    old: dict[str, str] = json.loads(lock.read_text(encoding="utf-8")) if lock.exists() else {}
    new = {
        path.relative_to(folder).with_suffix("").as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("*/*/v*.md"))
    }
    lines = refused(old, new)
    for line in lines:
        print(line, file=sys.stderr)
    if lines:
        return 1
    lock.write_text(json.dumps(new, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{len(new)} prompts are locked, {len(set(new) - set(old))} of them new")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "prompts"))
