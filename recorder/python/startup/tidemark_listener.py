# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Waits for the request to record this program: `tidemark resume` or `tidemark attach`.

One thread sleeps in accept(), which costs no time. Until the request comes, the package is not imported, and nothing is
attached to the program. Answers only processes of the same user and of root. recorder/SESSIONS.md has the protocol.
"""

import _thread
import atexit
import os
import socket
import stat
import struct
import sys

_LONGEST_REQUEST = 16 << 10
_LONGEST_WAIT_S = 2.0

_listening = None  # (socket, path, pid) while this process listens


def listen(package_folder, state):
    """Starts to listen, once per process. package_folder: contains the package. state: "paused" (as `tidemark record
    --paused` leaves it) or "attachable". Raises OSError if the runtime folder cannot be used."""
    global _listening
    if _listening is not None and _listening[2] == os.getpid():
        return
    path = os.path.join(_folder(), f"{os.getpid()}.program")
    hidden = f"{path}.{os.getpid()}"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(hidden)
        os.chmod(hidden, 0o600)
        listener.listen(4)
        os.rename(hidden, path)  # a socket that does not listen yet looks like that of a process that has ended
    except OSError:
        listener.close()
        raise
    _listening = listener, path, os.getpid()
    os.register_at_fork(after_in_child=_close)  # a child does not answer for its parent
    atexit.register(_remove)
    _thread.start_new_thread(_serve, (listener, package_folder, state))


def _folder():
    """Returns the runtime folder, which it creates. Raises OSError if another user could change it."""
    selected = os.environ.get("TIDEMARK_RUNTIME", "")
    folder = selected if selected.startswith("/") else f"/tmp/tidemark-{os.geteuid()}"
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    about = os.lstat(folder)
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o022:
        raise OSError(f"{folder} is not a folder that only this user can change; remove it or set TIDEMARK_RUNTIME")
    return folder


def _close():
    global _listening
    if _listening is not None:
        _listening[0].close()
        _listening = None


def _remove():
    if _listening is not None and _listening[2] == os.getpid():
        try:
            os.unlink(_listening[1])
        except OSError:
            pass


def _serve(listener, package_folder, state):
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        try:
            with connection:
                connection.settimeout(_LONGEST_WAIT_S)
                _answer(connection, package_folder, state)
        except Exception:  # no failure of the recorder may end the program, nor the listening
            pass


def _answer(connection, package_folder, state):
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    if struct.unpack("3i", credentials)[1] not in (os.geteuid(), 0):
        return
    import json

    line = b""
    while not line.endswith(b"\n") and len(line) < _LONGEST_REQUEST:
        part = connection.recv(4096)
        if not part:
            return
        line += part
    request = json.loads(line)
    if request.get("request") == "status":
        answer = {"ok": True, "pid": os.getpid(), "state": state}
    elif request.get("request") == "record":
        answer = _record(request, package_folder)
    else:
        answer = {"ok": False, "error": "unknown_request"}
    connection.sendall(json.dumps(answer).encode() + b"\n")


def _record(request, package_folder):
    """Starts the recording. A module that the program is importing is complete when this returns."""
    try:
        sys.path.insert(0, package_folder)
        try:
            from tidemark import _on_request
        finally:
            sys.path.remove(package_folder)
        return _on_request.record(request)
    except Exception as failure:
        return {"ok": False, "error": "failed", "details": f"{type(failure).__name__}: {failure}"}
