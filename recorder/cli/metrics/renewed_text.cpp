// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/metrics/renewed_text.h"

namespace tidemark::cli {

RenewedText::RenewedText(std::function<std::optional<std::string>()> make) : make_(std::move(make)) {
    thread_ = std::thread([this] { run(); });
}

RenewedText::~RenewedText() {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

std::optional<std::string> RenewedText::get() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return was_made_; });
    is_wanted_ = true;
    changed_.notify_all();
    return text_;
}

void RenewedText::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return is_wanted_ || is_stopping_; });
        if (is_stopping_) {
            return;
        }
        is_wanted_ = false;
        lock.unlock();
        auto text = make_();
        lock.lock();
        text_ = text ? std::move(text) : std::move(text_);
        was_made_ = true;
        changed_.notify_all();
    }
}

}  // namespace tidemark::cli
