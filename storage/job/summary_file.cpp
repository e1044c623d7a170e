// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/job/summary_file.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "storage/base/part_file.h"
#include "storage/base/regular_file.h"

namespace nlohmann {

template <>
struct adl_serializer<std::optional<int64_t>> {
    static void to_json(json& j, const std::optional<int64_t>& value) { j = value ? json(*value) : json(); }
    static void from_json(const json& j, std::optional<int64_t>& value) {
        value = j.is_null() ? std::nullopt : std::optional(j.get<int64_t>());
    }
};

}  // namespace nlohmann

namespace tidemark {

using nlohmann::json;

namespace {

/// Of this file. Others are not read: the summaries are made again.
constexpr int summary_version = 4;
constexpr int64_t most_summary_bytes = 4 << 20;

/// Returns the enumerator of which `word_of` returns the word.
template <class Kind, class WordOf>
Kind from_word(const json& j, int count, WordOf word_of) {
    const auto& word = j.get_ref<const std::string&>();
    for (int i = 0; i < count; ++i) {
        if (word_of(static_cast<Kind>(i)) == word) {
            return static_cast<Kind>(i);
        }
    }
    throw json::other_error::create(501, "unknown word", nullptr);
}

}  // namespace

// The conversions that nlohmann::json finds by the namespace of their argument.
void to_json(json& j, FindingKind kind) { j = finding_word(kind); }
void from_json(const json& j, FindingKind& kind) { kind = from_word<FindingKind>(j, finding_kind_count, finding_word); }
void to_json(json& j, Severity severity) { j = severity_word(severity); }
void from_json(const json& j, Severity& severity) { severity = from_word<Severity>(j, 5, severity_word); }
void to_json(json& j, ComponentKind kind) { j = component_word(kind); }
void from_json(const json& j, ComponentKind& kind) {
    kind = from_word<ComponentKind>(j, static_cast<int>(ComponentKind::unknown) + 1, component_word);
}
void to_json(json& j, Category category) { j = category_name(category); }
void from_json(const json& j, Category& category) { category = category_from_name(j.get_ref<const std::string&>()); }

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(JobPlace, rank, local_rank, world_size, node, role)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SiteMemory, line, category, at_peak, at_end, allocated, median_lifetime)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FixTexts, text, code, diff)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FindingTexts, title, detail, referrer, fix)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FindingSummary, kind, severity, bytes, per_iteration, line, is_gpu_leak, is_slow,
                                   texts)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ComponentMemory, kind, name, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OomSummary, time, requested, free)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepEnd, number, time)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Meeting, name, time)

namespace {

json device_json(const DeviceSummary& d) {
    return {{"device", d.device},
            {"name", d.name},
            {"uuid", d.uuid},
            {"total_bytes", d.total_bytes},
            {"events", d.events},
            {"peak_allocated", d.peak_allocated},
            {"peak_reserved", d.peak_reserved},
            {"peak_time", d.peak_time},
            {"peak_phase", d.peak_phase},
            {"end_time", d.end_time},
            {"allocated_at_end", d.allocated_at_end},
            {"reserved_at_end", d.reserved_at_end},
            {"parameters", d.parameters},
            {"parameter_names", d.parameter_names},
            {"device_used", d.device_used},
            {"components", d.components},
            {"sites", d.sites},
            {"findings", d.findings},
            {"oom", d.oom ? json(*d.oom) : json()},
            {"allocated", d.allocated},
            {"reserved", d.reserved},
            {"used", d.used}};
}

/// Returns whether a curve has one value per column.
bool is_curve(const std::vector<int64_t>& values) { return values.size() == DeviceSummary::columns; }

DeviceSummary read_device(const json& j) {
    DeviceSummary d;
    j.at("device").get_to(d.device);
    j.at("name").get_to(d.name);
    j.at("uuid").get_to(d.uuid);
    j.at("total_bytes").get_to(d.total_bytes);
    j.at("events").get_to(d.events);
    j.at("peak_allocated").get_to(d.peak_allocated);
    j.at("peak_reserved").get_to(d.peak_reserved);
    j.at("peak_time").get_to(d.peak_time);
    j.at("peak_phase").get_to(d.peak_phase);
    j.at("end_time").get_to(d.end_time);
    j.at("allocated_at_end").get_to(d.allocated_at_end);
    j.at("reserved_at_end").get_to(d.reserved_at_end);
    j.at("parameters").get_to(d.parameters);
    j.at("parameter_names").get_to(d.parameter_names);
    j.at("device_used").get_to(d.device_used);
    j.at("components").get_to(d.components);
    j.at("sites").get_to(d.sites);
    j.at("findings").get_to(d.findings);
    if (const json& oom = j.at("oom"); !oom.is_null()) {
        d.oom = oom.get<OomSummary>();
    }
    j.at("allocated").get_to(d.allocated);
    j.at("reserved").get_to(d.reserved);
    j.at("used").get_to(d.used);
    if (!is_curve(d.allocated) || !is_curve(d.reserved) || !is_curve(d.used)) {
        throw json::other_error::create(501, "a curve is not complete", nullptr);
    }
    return d;
}

json summary_json(const ProcessSummary& s) {
    json devices = json::array();
    for (const DeviceSummary& device : s.devices) {
        devices.push_back(device_json(device));
    }
    return {{"version", summary_version},
            {"writer", "Tidemark " TIDEMARK_VERSION},
            {"file_bytes", s.file_bytes},
            {"modified_ns", s.modified_ns},
            {"place", s.place},
            {"pid", s.pid},
            {"start_utc_ns", s.start_utc_ns},
            {"duration", s.duration},
            {"is_being_written", s.is_being_written},
            {"has_clean_end", s.has_clean_end},
            {"how_ended", word_of(s.how_ended)},
            {"end", s.end},
            {"exit_status", s.exit_status},
            {"last_event", s.last_event},
            {"steps", s.steps},
            {"step_ends", s.step_ends},
            {"meetings", s.meetings},
            {"devices", std::move(devices)}};
}

ProcessSummary read_process(const json& j) {
    ProcessSummary s;
    j.at("file_bytes").get_to(s.file_bytes);
    j.at("modified_ns").get_to(s.modified_ns);
    j.at("place").get_to(s.place);
    j.at("pid").get_to(s.pid);
    j.at("start_utc_ns").get_to(s.start_utc_ns);
    j.at("duration").get_to(s.duration);
    j.at("is_being_written").get_to(s.is_being_written);
    j.at("has_clean_end").get_to(s.has_clean_end);
    s.how_ended = fact_from_word<ProcessEnd>(j.at("how_ended").get_ref<const std::string&>());
    j.at("end").get_to(s.end);
    j.at("exit_status").get_to(s.exit_status);
    j.at("last_event").get_to(s.last_event);
    j.at("steps").get_to(s.steps);
    j.at("step_ends").get_to(s.step_ends);
    j.at("meetings").get_to(s.meetings);
    for (const json& device : j.at("devices")) {
        s.devices.push_back(read_device(device));
    }
    return s;
}

bool is_of_this_version(const json& j) {
    return j.is_object() && j.value("version", json()) == summary_version &&
           j.value("writer", json()) == "Tidemark " TIDEMARK_VERSION;
}

}  // namespace

std::string summary_path(const std::string& trace) {
    const std::filesystem::path path(trace);
    return (path.parent_path() / "summaries" / path.stem()).string() + ".json";
}

std::optional<ProcessSummary> read_summary(const std::string& path) {
    const auto bytes = read_regular_file(path, most_summary_bytes);
    const json document = bytes ? json::parse(*bytes, nullptr, false) : json();
    if (!is_of_this_version(document)) {
        return std::nullopt;
    }
    try {
        return read_process(document);
    } catch (const json::exception&) {
        return std::nullopt;
    }
}

Status write_summary(const std::string& path, const ProcessSummary& summary) {
    std::error_code exists;
    std::filesystem::create_directory(std::filesystem::path(path).parent_path(), exists);  // else write_file() says why
    return write_file(path, summary_json(summary).dump(-1, ' ', false, json::error_handler_t::replace) + '\n',
                      FileAccess::owner);
}

}  // namespace tidemark
