// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Events of the Chrome trace format, which torch.profiler writes and ui.perfetto.dev, chrome://tracing and TensorBoard
// read.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "storage/convert/take_bytes.h"

namespace tidemark {

/// Where an event is drawn: a thread of a process. Both are only numbers with names here.
struct ChromeTrack {
    int64_t process = 0, thread = 0;
};

/// Details of an event by name. Empty texts are left out.
using ChromeValue = std::variant<int64_t, double, std::string_view>;
using ChromeDetails = std::initializer_list<std::pair<const char*, ChromeValue>>;

/// Writes the events of a list, separated by commas, one a line. Times are ns since the begin of the file's clock.
class ChromeEvents {
public:
    explicit ChromeEvents(const TakeBytes& take) : buffer_(take) {}

    void name_process(int64_t process, std::string_view name, int64_t position);
    void name_thread(const ChromeTrack& track, std::string_view name);
    /// A span of time. On one track, spans contain one another or do not overlap.
    void span(const ChromeTrack& track, std::string_view name, int64_t start, int64_t end, ChromeDetails details);
    void instant(const ChromeTrack& track, std::string_view name, int64_t time, ChromeDetails details);
    /// A value in bytes, which holds until the next one.
    void bytes(int64_t process, std::string_view counter, int64_t time, int64_t value);

    const Status& status() const { return buffer_.status(); }
    /// Returns the error of the receiver.
    Status finish() { return buffer_.finish(); }

private:
    /// Begins an event. `kind`: "ph" of the format.
    std::string& begin(char kind, std::string_view name, const ChromeTrack& track);
    void time(const char* key, int64_t time);
    void end(ChromeDetails details);

    ByteBuffer buffer_;
    bool is_empty_ = true;
};

}  // namespace tidemark
