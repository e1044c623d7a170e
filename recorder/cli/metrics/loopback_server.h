// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A small HTTP/1.0 server for programs on this machine: GET requests, one at a time.
#pragma once

#include <functional>
#include <string>

#include "storage/base/descriptor.h"
#include "storage/base/progress.h"
#include "storage/base/result.h"

namespace tidemark::cli {

struct HttpResponse {
    int status = 200;
    std::string type = "text/plain; charset=utf-8";  ///< of the content
    std::string content;
};

class LoopbackServer {
public:
    /// `address`: "127.0.0.1:9464" or "[::1]:9464"; port 0 takes a free one. Errors: it is no such address (usage), or
    /// is in use (environment).
    static Result<LoopbackServer> listen(const std::string& address);

    /// The address with the port that was taken: "127.0.0.1:9464".
    const std::string& address() const { return address_; }

    /// Answers requests until it is canceled. `respond`: returns the response to a GET of a path. Refuses requests that
    /// a browser sends for another site.
    void serve(const std::function<HttpResponse(const std::string& path)>& respond, const Progress& progress) const;

private:
    LoopbackServer(Descriptor socket, std::string address) : socket_(std::move(socket)), address_(std::move(address)) {}
    void answer_one(const std::function<HttpResponse(const std::string& path)>& respond) const;

    Descriptor socket_;
    std::string address_;
};

}  // namespace tidemark::cli
