"""Which files of a folder are read: regular ones that stand in it."""

from __future__ import annotations

import errno
import os
import stat

from synth.schemas.rejections import Reason

__all__ = ["is_folder", "leads_out", "refusal"]


def leads_out(root: str, path: str) -> bool:
    """Whether ``path`` (relative to the folder ``root``) is a symbolic link to what lies outside of it."""
    full = os.path.join(root, path)
    if not os.path.islink(full):
        return False
    real, home = os.path.realpath(full), os.path.realpath(root)
    return os.path.commonpath([real, home]) != home


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder or leads to one; False for links that lead in circles."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def refusal(root: str, path: str) -> tuple[Reason, str] | None:
    """Why a file is not opened, and what exactly; None = it may be. Never waits: a pipe or a device is not opened."""
    full = os.path.join(root, path)
    try:
        if leads_out(root, path):
            return Reason.OUTSIDE, f"a link to {os.fsencode(os.readlink(full)).decode('utf-8', 'backslashreplace')!r}"
        if not stat.S_ISREG(os.stat(full).st_mode):
            return Reason.UNREADABLE, "not a regular file"
    except OSError as error:
        return Reason.UNREADABLE, error.strerror or errno.errorcode.get(error.errno or 0, "error")
    return None
