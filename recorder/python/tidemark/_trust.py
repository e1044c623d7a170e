# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Folders and files that hold code: no other user may be able to change them.

Functions raise OSError with a sentence that names the folder or file, the cause and the fix.
"""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import stat

from tidemark._sentence import Sentence


def check_folder(path: str) -> None:
    """Checks that a folder, and all folders above it, belong to this user or to root, and that no other user may write
    them. A folder such as /tmp, which everyone may write but with the sticky bit, may contain one that passes."""
    whole = folder = os.path.realpath(path)
    while True:
        _check_one(folder, folder == whole)
        if folder == os.path.dirname(folder):
            return
        folder = os.path.dirname(folder)


def create_folder(path: str) -> None:
    """Creates a folder, and those above it, with mode 0700 where they do not exist, and checks it."""
    _create(path)
    check_folder(path)


def _create(path: str) -> None:
    if not os.path.isdir(path):
        _create(os.path.dirname(path))
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)


def open_file(path: str, flags: int) -> int:
    """Opens a regular file of this user that no other user may write. Follows no link. Returns its descriptor.

    flags: as of os.open. A file that is created gets mode 0600. Raises FileNotFoundError if there is no such file.
    """
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    about = os.fstat(descriptor)
    if stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid() and not _others_may_write(about):
        return descriptor
    os.close(descriptor)
    raise OSError(
        Sentence(
            "{path} is not used, because another user owns it or may write it (owner {user}, mode {mode}); remove it",
            path=path,
            user=_user(about.st_uid),
            mode=_mode(about),
        )
    )


def _check_one(folder: str, is_last: bool) -> None:
    about = os.stat(folder)
    if not stat.S_ISDIR(about.st_mode):
        raise OSError(Sentence("{folder} is not a folder; remove it or name another one", folder=folder))
    if about.st_uid not in (0, os.geteuid()):
        raise OSError(
            Sentence(
                "{folder} belongs to the user {user}, who could change the code that Tidemark loads from it; use a"
                " folder that belongs to you or to root",
                folder=folder,
                user=_user(about.st_uid),
            )
        )
    is_shared = not is_last and about.st_mode & stat.S_ISVTX
    if _others_may_write(about) and not is_shared:
        raise OSError(
            Sentence(
                "other users may write the folder {folder} (mode {mode}), so they could change the code that Tidemark"
                " loads from it; forbid it with: chmod go-w {folder}",
                folder=folder,
                mode=_mode(about),
            )
        )


def _others_may_write(about: os.stat_result) -> bool:
    by_group = about.st_mode & stat.S_IWGRP and not _is_private_group(about.st_gid)
    return bool(about.st_mode & stat.S_IWOTH or by_group)


def _is_private_group(group: int) -> bool:
    """Returns whether only this user is in the group. Linux distributions give each user such a group."""
    try:
        user, known = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return user.pw_gid == group and user.pw_name == known.gr_name and set(known.gr_mem) <= {user.pw_name}


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _mode(about: os.stat_result) -> str:
    return f"{stat.S_IMODE(about.st_mode):04o}"
