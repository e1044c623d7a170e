// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A text that takes time to make, and is renewed in the background when somebody has asked for it.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace tidemark::cli {

class RenewedText {
public:
    /// `make`: returns nothing if it failed; the text before remains. Runs on a thread of its own.
    explicit RenewedText(std::function<std::optional<std::string>()> make);
    RenewedText(const RenewedText&) = delete;
    RenewedText& operator=(const RenewedText&) = delete;
    /// Waits for the end of `make`.
    ~RenewedText();

    /// Returns the newest text, and has the next one made. Waits if there is none yet; returns nothing if the first one
    /// could not be made.
    std::optional<std::string> get();

private:
    void run();

    const std::function<std::optional<std::string>()> make_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<std::string> text_;
    bool is_wanted_ = true, was_made_ = false, is_stopping_ = false;
    std::thread thread_;
};

}  // namespace tidemark::cli
