// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/convert/chrome_events.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "storage/base/utf8.h"

namespace tidemark {
namespace {

std::string quoted(std::string_view text) { return nlohmann::json(visible_text(text)).dump(); }

struct AppendValue {
    std::string& text;
    void operator()(int64_t number) const { fmt::format_to(std::back_inserter(text), "{}", number); }
    void operator()(double number) const { text += nlohmann::json(number).dump(); }
    void operator()(std::string_view value) const { text += quoted(value); }
};

bool is_missing(const ChromeValue& value) {
    const auto* text = std::get_if<std::string_view>(&value);
    return text != nullptr && text->empty();
}

}  // namespace

std::string& ChromeEvents::begin(char kind, std::string_view name, const ChromeTrack& track) {
    std::string& text = buffer_.text();
    fmt::format_to(std::back_inserter(text), R"({}{{"ph":"{}","name":{},"pid":{},"tid":{})", is_empty_ ? "" : ",\n",
                   kind, quoted(name), track.process, track.thread);
    is_empty_ = false;
    return text;
}

/// The format has µs. Three decimals keep the nanoseconds.
void ChromeEvents::time(const char* key, int64_t time) {
    const uint64_t distance = time < 0 ? uint64_t{0} - static_cast<uint64_t>(time) : static_cast<uint64_t>(time);
    fmt::format_to(std::back_inserter(buffer_.text()), R"(,"{}":{}{}.{:03})", key, time < 0 ? "-" : "", distance / 1000,
                   distance % 1000);
}

void ChromeEvents::end(ChromeDetails details) {
    std::string& text = buffer_.text();
    text += R"(,"args":{)";
    const char* separator = "";
    for (const auto& [name, value] : details) {
        if (!is_missing(value)) {
            fmt::format_to(std::back_inserter(text), R"({}"{}":)", separator, name);
            std::visit(AppendValue{text}, value);
            separator = ",";
        }
    }
    text += "}}";
    buffer_.pass_on_some();
}

void ChromeEvents::name_process(int64_t process, std::string_view name, int64_t position) {
    begin('M', "process_name", {process, 0});
    end({{"name", name}});
    begin('M', "process_sort_index", {process, 0});
    end({{"sort_index", position}});
}

void ChromeEvents::name_thread(const ChromeTrack& track, std::string_view name) {
    begin('M', "thread_name", track);
    end({{"name", name}});
    begin('M', "thread_sort_index", track);
    end({{"sort_index", track.thread}});
}

void ChromeEvents::span(const ChromeTrack& track, std::string_view name, int64_t start, int64_t end,
                        ChromeDetails details) {
    begin('X', name, track);
    time("ts", start);
    time("dur", end - start);
    this->end(details);
}

void ChromeEvents::instant(const ChromeTrack& track, std::string_view name, int64_t time, ChromeDetails details) {
    begin('i', name, track) += R"(,"s":"t")";
    this->time("ts", time);
    end(details);
}

void ChromeEvents::bytes(int64_t process, std::string_view counter, int64_t time, int64_t value) {
    begin('C', counter, {process, 0});
    this->time("ts", time);
    end({{"bytes", value}});
}

}  // namespace tidemark
