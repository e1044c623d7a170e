// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The control socket of a recorder: commands of the same user, or of root, ask for its status and steer it. It has its
// own thread, which sleeps between requests, so that the status is known also while the recorder writes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "storage/base/descriptor.h"

namespace tidemark::recorder {

class ControlServer {
public:
    /// Listens for requests about `program`. Without a usable runtime folder, the recording cannot be steered.
    explicit ControlServer(pid_t program);
    ControlServer(const ControlServer&) = delete;
    ControlServer& operator=(const ControlServer&) = delete;
    ~ControlServer();

    /// Sets the answer to "status". Until accept_requests(), other requests are refused with `refusal`.
    void publish(const nlohmann::json& status);
    void refuse_requests(const std::string& refusal);
    void accept_requests() { refuse_requests({}); }

    struct Request {
        uint64_t id = 0;
        std::string name;  ///< "pause", "resume", "snapshot"
    };
    /// Returns the requests since the last call, except those for the status.
    std::vector<Request> take_requests();
    void answer(uint64_t id, const nlohmann::json& answer);

private:
    struct Client {
        Descriptor connection;
        uint64_t id = 0;
        std::string received, to_send;
        int64_t deadline_ms = 0;  ///< for a complete request
        bool is_asked = false;
    };

    void run();
    void accept_clients();
    void serve(Client& client);
    void handle(Client& client);
    void wake() const;

    std::string path_;
    Descriptor listener_, wake_;
    uint64_t inode_ = 0;
    std::vector<Client> clients_;  ///< of the thread

    std::mutex mutex_;
    bool is_stopping_ = false;
    std::string status_, refusal_;
    std::deque<Request> requests_;
    std::map<uint64_t, std::string> answers_;
    std::thread thread_;
};

}  // namespace tidemark::recorder
