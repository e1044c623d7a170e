// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The folder of a user's control sockets on this machine. No other user may be able to change it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "storage/base/result.h"

namespace tidemark::recorder {

/// Who listens at a control socket.
enum class Listener : uint8_t {
    recorder,  ///< the recorder process of a recorded program
    program,   ///< a program that is not recorded, but can be
};

/// Returns TIDEMARK_RUNTIME, or /tmp/tidemark-UID. Not XDG_RUNTIME_DIR: batch jobs have none, and logging out empties
/// it.
std::string runtime_folder(uid_t user);

/// Creates this user's folder if it does not exist, and checks it. Returns its path. Errors (environment): it cannot be
/// created, or another user could change it.
Result<std::string> create_runtime_folder();

/// Checks that a folder is no link and that only `user` can change it. Error (environment): it is not so. A folder that
/// does not exist passes.
Status check_runtime_folder(const std::string& folder, uid_t user);

/// Returns the path of the socket for a process: "PID.recorder" or "PID.program" in the folder.
std::string socket_path(const std::string& folder, int64_t pid, Listener listener);

struct ControlSocket {
    int64_t pid = 0;
    Listener listener = Listener::recorder;
    std::string path;
};
/// Returns the sockets in the folder, by pid. Some may have no listener any more.
std::vector<ControlSocket> control_sockets(const std::string& folder);

}  // namespace tidemark::recorder
