"""A folder that one run writes to: another that would write there at the same time is refused."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

from tradewind.base.errors import InputError
from tradewind.base.files import check_folder, make_folder

_HELD = frozenset({errno.EWOULDBLOCK, errno.EACCES})


class FolderHold:
    """Holds a folder, which is made where it is not there, until `release`, or the end of this process.

    Raises InputError for a folder that another run holds, and for one without rights. File systems without locks hold
    nothing.
    """

    def __init__(self, folder: Path) -> None:
        check_folder(folder, "folder")
        make_folder(folder, "folder")
        self._descriptor: int | None = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.release()
            if error.errno in _HELD:
                raise InputError(f"folder {folder}: another run writes there: name another one, or wait") from None

    def release(self) -> None:
        """Let other runs write there."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            self.release()
