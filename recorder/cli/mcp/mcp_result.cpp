// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/mcp/mcp_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "storage/base/utf8.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

/// Of a finding in an overview. The tool `finding` has all.
constexpr std::array shown_keys{"kind",    "severity",        "confidence", "title", "bytes",    "per_iteration_bytes",
                                "count",   "since_iteration", "component",  "line",  "referrer", "evidence",
                                "unknowns"};

std::string id_of(const ordered_json& device, size_t position) { return fmt::format("{}:{}", device.dump(), position); }

ordered_json without_nulls(const ordered_json& object) {
    ordered_json rest = ordered_json::object();
    for (const auto& [key, value] : object.items()) {
        if (!value.is_null()) {
            rest[key] = value;
        }
    }
    return rest;
}

ordered_json overview_of(const ordered_json& finding, const std::string& id) {
    ordered_json overview{{"id", id}};
    for (const char* key : shown_keys) {
        if (finding.contains(key)) {
            overview[key] = finding[key];
        }
    }
    for (ordered_json& evidence : overview["evidence"]) {
        evidence = without_nulls(evidence);
    }
    if (const auto& fixes = finding.at("fixes"); !fixes.empty()) {
        overview["fix"] = fixes.front().at("text");
    }
    return without_nulls(overview);
}

ordered_json device_overview(ordered_json device) {
    size_t position = 0;
    for (ordered_json& finding : device.at("findings")) {
        finding = overview_of(finding, id_of(device.at("device"), position++));
    }
    return device;
}

/// Whether this is the explanation of a device; that of a job has other findings.
bool is_of_device(const ordered_json& json) {
    return json.is_object() && json.contains("device") && json.contains("findings");
}

std::string text_of(const ordered_json& json) {
    return visible_json(json.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

size_t size_of(const ordered_json& json) {
    return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace).size();
}

/// The list or text to cut, and where it is: "groups[3].frames".
struct Longest {
    ordered_json* value;
    std::string place;
};

/// Descends into the part that is more than half of what contains it, and ends at a list of smaller parts or a text.
Longest find_longest(ordered_json& json) {
    Longest found{&json, ""};
    for (;;) {
        ordered_json* largest = nullptr;
        std::string name;
        size_t most = 0, all = 0;
        for (const auto& [key, part] : found.value->items()) {
            const size_t size = size_of(part);
            all += size;
            if (size > most && part.is_structured() + part.is_string() > 0) {
                most = size;
                largest = &part;
                name = key;
            }
        }
        const bool is_list = found.value->is_array();
        if (largest == nullptr || (is_list && found.value->size() > 1 && most <= all / 2)) {
            return found;
        }
        found.place += is_list ? '[' + name + ']' : (found.place.empty() ? "" : ".") + name;
        found.value = largest;
        if (largest->is_string()) {
            return found;
        }
    }
}

/// Removes half of a list or a text. Returns false if nothing is left to cut.
bool cut(ordered_json& value) {
    if (value.is_array() && value.size() > 1) {
        value.erase(value.begin() + static_cast<ptrdiff_t>(value.size() / 2), value.end());
        return true;
    }
    if (value.is_string() && value.get_ref<const std::string&>().size() > 100) {
        const std::string text = value.get<std::string>();
        value = std::string(cut_text(text, text.size() / 2));
        return true;
    }
    return false;
}

size_t length_of(const ordered_json& value) {
    return value.is_string() ? value.get_ref<const std::string&>().size() : value.size();
}

}  // namespace

ordered_json findings_of(const ordered_json& explained) {
    if (explained.is_array()) {
        auto devices = ordered_json::array();
        for (const ordered_json& device : explained) {
            devices.push_back(device_overview(device));
        }
        return devices;
    }
    return is_of_device(explained) ? device_overview(explained) : explained;
}

std::optional<ordered_json> finding_of(const ordered_json& explained, const std::string& id) {
    const ordered_json devices = explained.is_array() ? explained : ordered_json::array({explained});
    for (const ordered_json& device : devices) {
        size_t position = 0;
        for (const ordered_json& finding : is_of_device(device) ? device["findings"] : ordered_json::array()) {
            if (id_of(device["device"], position++) == id) {
                return ordered_json{
                    {"device", device["device"]}, {"time_point", device["time_point"]}, {"finding", finding}};
            }
        }
    }
    return std::nullopt;
}

std::string text_within(ordered_json json, size_t most) {
    std::map<std::string, std::pair<size_t, size_t>> left_out;  // by place: what there was, what is left
    std::string text = text_of(json);
    while (text.size() > most) {
        const Longest longest = find_longest(json);
        const size_t before = length_of(*longest.value);
        const bool is_text = longest.value->is_string();
        if (!cut(*longest.value)) {
            return text_of({{"left_out", {fmt::format("all: {} bytes", text.size())}}});
        }
        auto& [all, rest] = left_out.try_emplace(longest.place + (is_text ? ", bytes" : ""), before, 0).first->second;
        rest = length_of(*longest.value);
        ordered_json shown = json.is_object() ? json : ordered_json{{"list", json}};
        for (const auto& [place, counts] : left_out) {
            shown["left_out"].push_back(
                fmt::format("{}: {} of {} are shown", place.empty() ? "list" : place, counts.second, counts.first));
        }
        text = text_of(shown);
    }
    return text;
}

}  // namespace tidemark::cli
