// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Where the formats of other programs go: a receiver of bytes, and a buffer in front of it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "storage/base/result.h"

namespace tidemark {

/// Receives the bytes of a file from its begin to its end, some at a time.
using TakeBytes = std::function<Status(std::string_view)>;

/// Collects small pieces of a file. Keeps the first error, after which it takes no more.
class ByteBuffer {
public:
    explicit ByteBuffer(const TakeBytes& take) : take_(take) {}

    /// The text to append to. Call pass_on_some() now and then.
    std::string& text() { return text_; }
    void pass_on_some() {
        if (text_.size() >= much) {
            pass_on();
        }
    }
    /// Passes on the rest. Returns the error of the receiver.
    Status finish() {
        pass_on();
        return status_;
    }
    const Status& status() const { return status_; }

private:
    static constexpr size_t much = size_t{256} << 10;
    void pass_on() {
        if (status_) {
            status_ = take_(text_);
        }
        text_.clear();
    }

    const TakeBytes& take_;
    std::string text_;
    Status status_;
};

}  // namespace tidemark
