// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/control_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include "recorder/control/control_socket.h"
#include "recorder/control/runtime_folder.h"

namespace tidemark::recorder {
namespace {

constexpr size_t most_clients = 32;
constexpr int64_t longest_request_ms = 2000;

int64_t now_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::string line_of(const nlohmann::json& json) {
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

std::string refused(const std::string& error) { return line_of({{"ok", false}, {"error", error}}); }

uint64_t inode_of(const std::string& path) {
    struct stat about {};
    return ::lstat(path.c_str(), &about) == 0 ? about.st_ino : 0;
}

}  // namespace

ControlServer::ControlServer(pid_t program) : status_(refused("starting")), refusal_("starting") {
    const auto folder = create_runtime_folder();
    if (!folder) {
        return;
    }
    path_ = socket_path(*folder, program, Listener::recorder);
    auto listener = listen_at(path_);
    wake_ = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (listener && wake_) {
        listener_ = *std::move(listener);
        inode_ = inode_of(path_);
        thread_ = std::thread([this] { run(); });
    }
}

ControlServer::~ControlServer() {
    if (!thread_.joinable()) {
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
    }
    wake();
    thread_.join();
    if (inode_of(path_) == inode_) {
        ::unlink(path_.c_str());  // else the recorder of the program's next recording listens there
    }
}

void ControlServer::wake() const {
    const uint64_t one = 1;
    const ssize_t written = thread_.joinable() ? ::write(wake_.get(), &one, sizeof one) : 0;
    static_cast<void>(written);  // it fails only if the thread is to wake up already
}

void ControlServer::publish(const nlohmann::json& status) {
    std::string line = line_of(status);
    const std::lock_guard lock(mutex_);
    status_ = std::move(line);
}

void ControlServer::refuse_requests(const std::string& refusal) {
    const std::lock_guard lock(mutex_);
    refusal_ = refusal;
    if (!refusal.empty()) {
        for (const Request& request : requests_) {
            answers_[request.id] = refused(refusal);
        }
        requests_.clear();
        wake();
    }
}

std::vector<ControlServer::Request> ControlServer::take_requests() {
    const std::lock_guard lock(mutex_);
    std::vector<Request> taken(requests_.begin(), requests_.end());
    requests_.clear();
    return taken;
}

void ControlServer::answer(uint64_t id, const nlohmann::json& answer) {
    const std::lock_guard lock(mutex_);
    answers_[id] = line_of(answer);
    wake();
}

void ControlServer::run() {
    std::array<char, 8> ignored{};
    for (;;) {
        std::vector<pollfd> files{{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
        for (const Client& client : clients_) {
            const int events = (client.is_asked ? 0 : POLLIN) | (client.to_send.empty() ? 0 : POLLOUT);
            files.push_back({client.connection.get(), static_cast<short>(events), 0});
        }
        ::poll(files.data(), files.size(), clients_.empty() ? -1 : 100);
        while (::read(wake_.get(), ignored.data(), ignored.size()) > 0) {
        }
        {
            const std::lock_guard lock(mutex_);
            if (is_stopping_ && answers_.empty()) {
                return;
            }
            for (Client& client : clients_) {
                if (const auto ready = answers_.find(client.id); ready != answers_.end()) {
                    client.to_send = std::move(ready->second);
                    answers_.erase(ready);
                }
            }
            if (is_stopping_) {
                answers_.clear();  // of clients that have gone
            }
        }
        for (Client& client : clients_) {
            serve(client);
        }
        std::erase_if(clients_, [](const Client& client) { return !client.connection; });
        accept_clients();
    }
}

void ControlServer::accept_clients() {
    static uint64_t next_id = 1;
    for (;;) {
        Descriptor connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!connection) {
            return;
        }
        const auto user = peer_of(connection.get());
        if (user && (*user == ::geteuid() || *user == 0) && clients_.size() < most_clients) {
            clients_.push_back({std::move(connection), next_id++, {}, {}, now_ms() + longest_request_ms, false});
        }
    }
}

void ControlServer::serve(Client& client) {
    std::array<char, 1024> block{};
    ssize_t count = 0;
    while (!client.is_asked && (count = ::recv(client.connection.get(), block.data(), block.size(), 0)) > 0) {
        client.received.append(block.data(), static_cast<size_t>(count));
        if (client.received.back() == '\n' || client.received.size() > longest_request) {
            client.is_asked = true;
            handle(client);
        }
    }
    const bool has_failed = count < 0 && errno != EAGAIN && errno != EINTR;
    bool is_over = !client.is_asked && (count == 0 || has_failed || now_ms() > client.deadline_ms);
    if (!client.to_send.empty()) {
        count = ::send(client.connection.get(), client.to_send.data(), client.to_send.size(), MSG_NOSIGNAL);
        client.to_send.erase(0, static_cast<size_t>(std::max<ssize_t>(count, 0)));
        is_over |= client.to_send.empty() || (count < 0 && errno != EAGAIN && errno != EINTR);
    }
    if (is_over) {
        client.connection = Descriptor();
    }
}

void ControlServer::handle(Client& client) {
    const auto json = nlohmann::json::parse(client.received, nullptr, false);
    const auto name = json.is_object() ? json.find("request") : json.end();
    const bool is_request = json.is_object() && name != json.end() && name->is_string();
    const std::string request = is_request ? name->get<std::string>() : "";
    const std::lock_guard lock(mutex_);
    if (request == "status") {
        client.to_send = status_;
    } else if (request != "pause" && request != "resume" && request != "snapshot") {
        client.to_send = refused("unknown_request");
    } else if (!refusal_.empty() || is_stopping_) {
        client.to_send = refused(refusal_.empty() ? "ending" : refusal_);
    } else {
        requests_.push_back({client.id, request});
    }
}

}  // namespace tidemark::recorder
