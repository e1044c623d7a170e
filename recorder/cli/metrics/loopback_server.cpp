// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/metrics/loopback_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "storage/base/parse_number.h"
#include "storage/base/part_file.h"
#include "storage/base/system_reason.h"

namespace tidemark::cli {
namespace {

constexpr int patience_ms = 200;    ///< between looks at the flag that cancels
constexpr int request_seconds = 2;  ///< for a request to arrive, and for a response to be taken
constexpr size_t longest_request = 8192;

struct Address {
    sockaddr_storage place{};
    socklen_t size = 0;
    std::string host;  ///< as in a URL
};

/// Returns nothing for an address that other machines can reach.
std::optional<Address> parse_address(const std::string& text) {
    const size_t colon = text.rfind(':');
    const auto port =
        colon == text.npos ? std::nullopt : parse_number<uint16_t>(std::string_view(text).substr(colon + 1));
    if (!port) {
        return std::nullopt;
    }
    Address address;
    address.host = text.substr(0, colon);
    if (address.host == "[::1]") {
        auto* const place = reinterpret_cast<sockaddr_in6*>(&address.place);
        place->sin6_family = AF_INET6;
        place->sin6_addr = in6addr_loopback;
        place->sin6_port = htons(*port);
        address.size = sizeof *place;
        return address;
    }
    auto* const place = reinterpret_cast<sockaddr_in*>(&address.place);
    place->sin_family = AF_INET;
    place->sin_port = htons(*port);
    address.size = sizeof *place;
    const bool is_loopback = inet_pton(AF_INET, address.host.c_str(), &place->sin_addr) == 1 &&
                             (ntohl(place->sin_addr.s_addr) >> 24) == IN_LOOPBACKNET;
    return is_loopback ? std::optional(address) : std::nullopt;
}

uint16_t port_of(int socket) {
    sockaddr_storage place{};
    socklen_t size = sizeof place;
    if (getsockname(socket, reinterpret_cast<sockaddr*>(&place), &size) != 0) {
        return 0;
    }
    return ntohs(place.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&place)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&place)->sin_port);
}

void limit_time(int socket) {
    const timeval limit{request_seconds, 0};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

/// Returns the head of a request; what has arrived if it is too long or too slow.
std::string read_head(int socket) {
    std::string head;
    std::array<char, 1024> buffer;
    while (head.size() < longest_request && head.find("\r\n\r\n") == std::string::npos) {
        const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), 0);
        if (got <= 0) {
            break;
        }
        head.append(buffer.data(), static_cast<size_t>(got));
    }
    return head;
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
}

/// Returns the value of the header Host without its port; empty if there is none.
std::string host_of(const std::string& head) {
    const std::string all = lower(head);
    const size_t at = all.find("\r\nhost:");
    if (at == all.npos) {
        return {};
    }
    const size_t begin = all.find_first_not_of(' ', at + 7), end = all.find("\r\n", at + 2);
    const std::string host = all.substr(begin, end - begin);
    const size_t port = host.rfind(':');
    return port == host.npos || host.ends_with(']') ? host : host.substr(0, port);
}

/// A page of another site whose name leads to this machine would send that name.
bool is_for_this_machine(const std::string& head) {
    const std::string host = host_of(head);
    return host.empty() || host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

std::string_view reason_of(int status) {
    switch (status) {
        case 200: return "OK";
        case 400: return "Bad Request";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        default: return "Service Unavailable";
    }
}

void send_response(int socket, const HttpResponse& response, bool has_content) {
    const std::string head =
        fmt::format("HTTP/1.0 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    response.status, reason_of(response.status), response.type, response.content.size());
    if (write_all(socket, head) == 0 && has_content) {
        write_all(socket, response.content);
    }
}

}  // namespace

Result<LoopbackServer> LoopbackServer::listen(const std::string& address) {
    const auto wanted = parse_address(address);
    if (!wanted) {
        return usage_error(
            "\"{text}\" is no address of this machine alone; use 127.0.0.1:PORT or [::1]:PORT, such as "
            "127.0.0.1:9464.",
            with("text", address));
    }
    Descriptor socket(::socket(wanted->place.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int yes = 1;
    setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (!socket || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&wanted->place), wanted->size) != 0 ||
        ::listen(socket.get(), SOMAXCONN) != 0) {
        return environment_error("{address} cannot be used: {reason}.", with("address", address),
                                 with("reason", system_reason(errno)));
    }
    std::string taken = fmt::format("{}:{}", wanted->host, port_of(socket.get()));
    return LoopbackServer(std::move(socket), std::move(taken));
}

void LoopbackServer::serve(const std::function<HttpResponse(const std::string& path)>& respond,
                           const Progress& progress) const {
    while (!progress.canceled) {
        pollfd pending{socket_.get(), POLLIN, 0};
        if (poll(&pending, 1, patience_ms) > 0) {
            answer_one(respond);
        }
    }
}

void LoopbackServer::answer_one(const std::function<HttpResponse(const std::string& path)>& respond) const {
    const Descriptor peer(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!peer) {
        return;
    }
    limit_time(peer.get());
    const std::string head = read_head(peer.get());
    const size_t method_end = head.find(' '), path_end = head.find_first_of(" ?\r\n", method_end + 1);
    const std::string method = head.substr(0, method_end);
    if (head.find("\r\n\r\n") == head.npos || method_end == head.npos || path_end == head.npos) {
        send_response(peer.get(), {400, "text/plain", "This is no HTTP request.\n"}, true);
    } else if (!is_for_this_machine(head)) {
        send_response(peer.get(), {403, "text/plain", "This server answers programs on this machine.\n"}, true);
    } else if (method != "GET" && method != "HEAD") {
        send_response(peer.get(), {405, "text/plain", "Only GET is answered.\n"}, true);
    } else {
        send_response(peer.get(), respond(head.substr(method_end + 1, path_end - method_end - 1)), method == "GET");
    }
}

}  // namespace tidemark::cli
