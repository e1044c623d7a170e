// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A control socket takes one request per connection: one line of JSON, answered by one line. See SESSIONS.md.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "storage/base/descriptor.h"
#include "storage/base/result.h"

namespace tidemark::recorder {

constexpr size_t longest_request = 16 << 10, longest_answer = 1 << 20;

/// Listens at `path` with a socket that does not block. It replaces an existing one, and appears only when it accepts
/// connections. Errors (environment): the path is too long, or the folder cannot be written.
Result<Descriptor> listen_at(const std::string& path);

/// Returns the user of the process at the other end; nothing if that is unknown.
std::optional<uid_t> peer_of(int socket);

enum class NoAnswer : uint8_t {
    no_listener,  ///< there is no socket, or its process has ended: it is removed then
    silent,       ///< no complete answer in time
    foreign,      ///< another user listens
    refused,      ///< this user may not connect
    unreadable,   ///< the answer is not JSON
    closed,       ///< the process ended before it answered
};

/// Sends a request and waits for the answer. `user`: who must listen.
tl::expected<nlohmann::json, NoAnswer> ask(const std::string& path, const nlohmann::json& request, uid_t user,
                                           std::chrono::milliseconds patience);

}  // namespace tidemark::recorder
