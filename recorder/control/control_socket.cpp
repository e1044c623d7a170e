// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/control/control_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "storage/base/system_reason.h"

namespace tidemark::recorder {
namespace {

using Clock = std::chrono::steady_clock;

/// Returns nothing if the path is too long for a socket.
std::optional<sockaddr_un> address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        return std::nullopt;
    }
    std::copy(path.begin(), path.end(), address.sun_path);
    return address;
}

const sockaddr* generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

/// Waits until the socket is ready for `events`. Returns false at the deadline.
bool wait_for(int socket, short events, Clock::time_point deadline) {
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd ready{socket, events, 0};
        const int count = ::poll(&ready, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30)));
        if (count > 0) {
            return true;
        }
        if (count == 0 || errno != EINTR) {
            return false;
        }
    }
}

NoAnswer send_line(int socket, std::string_view line, Clock::time_point deadline, bool& is_sent) {
    while (!line.empty()) {
        const ssize_t count = ::send(socket, line.data(), line.size(), MSG_NOSIGNAL);
        if (count > 0) {
            line.remove_prefix(static_cast<size_t>(count));
        } else if (errno != EAGAIN && errno != EINTR) {
            return NoAnswer::closed;
        } else if (!wait_for(socket, POLLOUT, deadline)) {
            return NoAnswer::silent;
        }
    }
    is_sent = true;
    return {};
}

tl::expected<std::string, NoAnswer> receive_line(int socket, Clock::time_point deadline) {
    std::string line;
    std::array<char, 4096> block{};
    for (;;) {
        const ssize_t count = ::recv(socket, block.data(), block.size(), 0);
        if (count > 0) {
            line.append(block.data(), static_cast<size_t>(count));
            if (line.back() == '\n') {
                return line;
            }
            if (line.size() > longest_answer) {
                return tl::unexpected(NoAnswer::unreadable);
            }
        } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
            return tl::unexpected(NoAnswer::closed);
        } else if (!wait_for(socket, POLLIN, deadline)) {
            return tl::unexpected(NoAnswer::silent);
        }
    }
}

/// Removes the socket of a process that has ended. Another process may have replaced it since, which is unlikely and
/// only takes away that it can be steered.
void remove_stale(const std::string& path) {
    struct stat about {};
    if (::lstat(path.c_str(), &about) == 0 && S_ISSOCK(about.st_mode)) {
        ::unlink(path.c_str());
    }
}

/// Connects, and waits for a place in the queue of a listener that has no time now: a socket that does not block is
/// refused at once then. Returns 0 or the reason, which is EAGAIN at the deadline.
int connect_until(int socket, const sockaddr_un& address, Clock::time_point deadline) {
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::microseconds>(deadline - Clock::now()).count();
        // 0 would mean no limit.
        const int64_t patience = std::max<int64_t>(left, 1);
        const timeval limit{patience / 1'000'000, patience % 1'000'000};
        ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        if (::connect(socket, generic(address), sizeof address) == 0) {
            return 0;
        }
        if (errno != EINTR) {
            return errno;
        }
    }
}

tl::expected<Descriptor, NoAnswer> connect_to(const std::string& path, uid_t user, Clock::time_point deadline) {
    const auto address = address_of(path);
    struct stat about {};
    if (!address || ::lstat(path.c_str(), &about) != 0 || !S_ISSOCK(about.st_mode)) {
        return tl::unexpected(address && errno == EACCES ? NoAnswer::refused : NoAnswer::no_listener);
    }
    Descriptor connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (const int reason = connect_until(connection.get(), *address, deadline); reason != 0) {
        if (reason == ECONNREFUSED) {
            remove_stale(path);
            return tl::unexpected(NoAnswer::no_listener);
        }
        return tl::unexpected(reason == EACCES   ? NoAnswer::refused
                              : reason == EAGAIN ? NoAnswer::silent
                                                 : NoAnswer::no_listener);
    }
    ::fcntl(connection.get(), F_SETFL, O_NONBLOCK);
    if (peer_of(connection.get()) != user) {
        return tl::unexpected(NoAnswer::foreign);
    }
    return connection;
}

}  // namespace

Result<Descriptor> listen_at(const std::string& path) {
    const std::string hidden = fmt::format("{}.{}", path, ::getpid());
    const auto address = address_of(hidden);
    if (!address) {
        return environment_error("The path {path} is too long for a socket. Set TIDEMARK_RUNTIME to a shorter folder.",
                                 with("path", path));
    }
    ::unlink(hidden.c_str());
    Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    // A socket that exists but does not listen yet would look like that of a process that has ended.
    if (::bind(listener.get(), generic(*address), sizeof *address) != 0 || ::chmod(hidden.c_str(), 0600) != 0 ||
        ::listen(listener.get(), 16) != 0 || ::rename(hidden.c_str(), path.c_str()) != 0) {
        const int reason = errno;
        ::unlink(hidden.c_str());
        return environment_error("{path} cannot be written: {reason}.", with("path", path),
                                 with("reason", system_reason(reason)));
    }
    return listener;
}

std::optional<uid_t> peer_of(int socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    const bool is_known = ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && size == sizeof peer;
    return is_known ? std::optional(peer.uid) : std::nullopt;
}

tl::expected<nlohmann::json, NoAnswer> ask(const std::string& path, const nlohmann::json& request, uid_t user,
                                           std::chrono::milliseconds patience) {
    const auto deadline = Clock::now() + patience;
    const auto connection = connect_to(path, user, deadline);
    if (!connection) {
        return tl::unexpected(connection.error());
    }
    bool is_sent = false;
    const std::string text = request.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
    if (const NoAnswer failure = send_line(connection->get(), text, deadline, is_sent); !is_sent) {
        return tl::unexpected(failure);
    }
    const auto line = receive_line(connection->get(), deadline);
    if (!line) {
        return tl::unexpected(line.error());
    }
    auto answer = nlohmann::json::parse(*line, nullptr, false);
    return answer.is_object() ? tl::expected<nlohmann::json, NoAnswer>(std::move(answer))
                              : tl::unexpected(NoAnswer::unreadable);
}

}  // namespace tidemark::recorder
