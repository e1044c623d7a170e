// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/export/file_check.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <vector>

#include <nlohmann/json.hpp>

#include "storage/base/system_reason.h"
#include "storage/export/leak_search.h"
#include "storage/export/public_names.h"
#include "storage/format/schema.h"
#include "storage/read/file_texts.h"
#include "storage/trace/recording_cost.h"

namespace tidemark {
namespace {

using Rule = bool (*)(std::string_view text, const AllowedTexts& allowed);

bool is_allowed(std::string_view text, const AllowedTexts& allowed) {
    return text.empty() || allowed.contains(std::string(text));
}

bool is_nothing(std::string_view text, const AllowedTexts&) { return text.empty(); }

/// A word of the vocabulary. A text after it must be allowed on its own.
template <class Kind>
bool is_word(std::string_view word, const AllowedTexts& allowed) {
    const Fact<Kind> fact = fact_from_word<Kind>(word);
    return is_allowed(fact.text, allowed);
}

bool is_string(std::string_view text, const AllowedTexts& allowed) {
    return is_allowed(text, allowed) || fact_from_word<Phase>(text) != Phase::named;
}

bool is_action(std::string_view name, const AllowedTexts& allowed) {
    return action_from_name(name) != Action::unknown || is_allowed(name, allowed);
}

bool is_category(std::string_view name, const AllowedTexts&) { return category_name(category_from_name(name)) == name; }

bool is_table(std::string_view name, const AllowedTexts&) { return is_table_name(name); }

bool is_data_gap(std::string_view name, const AllowedTexts&) { return data_gap_name(data_gap_from_name(name)) == name; }

/// "default pool", "private pool (0, 1)".
bool is_pool(std::string_view name, const AllowedTexts&) {
    constexpr std::string_view start = "private pool (";
    return name == "default pool" ||
           (name.starts_with(start) && name.ends_with(')') &&
            name.substr(start.size(), name.size() - start.size() - 1).find_first_not_of("-0123456789, ") == name.npos);
}

bool is_meta_key(std::string_view key, const AllowedTexts& allowed) {
    constexpr std::array known{"source",
                               "writer",
                               "start_utc_ns",
                               "duration_ns",
                               "clean_end",
                               "committed_time_ns",
                               "recorded.events_of",
                               "recorded.nvml_pid",
                               "graph.nodes_left_out"};
    constexpr std::string_view peak = "peak_event.";
    return std::find(known.begin(), known.end(), key) != known.end() || is_allowed(key, allowed) ||
           (key.starts_with(peak) && is_number(key.substr(peak.size())));
}

bool is_meta_value(std::string_view value, const AllowedTexts& allowed) {
    return is_number(value) || is_allowed(value, allowed) || value == "driver" || value == "Tidemark " TIDEMARK_VERSION;
}

bool is_argument_list(std::string_view json_text, const AllowedTexts& allowed) {
    const auto json = nlohmann::json::parse(json_text, nullptr, false);
    if (!json.is_object()) {
        return false;
    }
    for (const auto& [name, value] : json.items()) {
        if (!is_allowed(name, allowed) || !value.is_string() || !is_allowed(value.get<std::string>(), allowed)) {
            return false;
        }
    }
    return true;
}

struct ColumnRule {
    std::string_view table, column;
    Rule rule;  ///< nullptr: a blob of numbers
};

constexpr ColumnRule rules[]{
    {"meta", "key", is_meta_key},
    {"meta", "value", is_meta_value},
    {"process", "node", is_allowed},
    {"process", "role", is_allowed},
    {"process", "command_line", is_allowed},
    {"process", "how_ended", is_word<ProcessEnd>},
    {"thread", "name", is_nothing},
    {"device", "name", is_allowed},
    {"device", "uuid", is_nothing},
    {"stream", "name", is_allowed},
    {"pool", "name", is_pool},
    {"string", "text", is_string},
    {"event", "action", is_action},
    {"annotation", "name", is_allowed},
    {"annotation", "kind", is_word<AnnotationKind>},
    {"step", "source", is_word<StepSource>},
    {"mark", "name", is_allowed},
    {"data_gap", "kind", is_data_gap},
    {"data_gap", "reason", is_word<DataGapReason>},
    {"data_gap", "arguments", is_argument_list},
    {"data_gap", "text", is_allowed},
    {"driver_allocation", "kind", is_word<DriverMemoryKind>},
    {"sample", "source", is_word<SampleSource>},
    {"allocation_category", "category", is_category},
    {"heap_scan", "reason", is_word<ScanReason>},
    {"path_link", "kind", is_word<PathLinkKind>},
    {"source_line", "text", is_nothing},
    {"recording_cost", "kind", is_word<CostKind>},
    {"allocation_chunk", "data", nullptr},
    {"repeated_steps", "counters", nullptr},
    {"complete_step", "counters", nullptr},
    {"table_checksum", "name", is_table},
    {"seal", "bytes", nullptr},
};

const ColumnRule* rule_of(std::string_view table, std::string_view column) {
    const auto found = std::find_if(std::begin(rules), std::end(rules),
                                    [&](const ColumnRule& r) { return r.table == table && r.column == column; });
    return found == std::end(rules) ? nullptr : found;
}

Error leak_error(const SentenceValue& place) {
    return input_error(
        "The copy was not written: after redaction, {place} would still contain a private text. Please report this "
        "as a bug of Tidemark, with the name of the place only.",
        with("place", place));
}

/// Returns the bytes of a zstd frame, or `bytes` if they are not one.
Result<std::string> decompressed(std::string_view bytes) {
    constexpr size_t most_bytes = size_t{1} << 30;
    const auto size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
    if (size == ZSTD_CONTENTSIZE_ERROR) {
        return std::string(bytes);
    }
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size > most_bytes) {
        return input_error("A chunk of the trace cannot be checked: its size is unknown.");
    }
    std::string content(size, '\0');
    const size_t written = ZSTD_decompress(content.data(), content.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(written) != 0) {
        return input_error("A chunk of the trace cannot be checked: it is damaged.");
    }
    return content;
}

/// Collects the words of the original that the copy must not contain.
Result<LeakSearch> words_to_find(const std::string& original, const std::string& shared, const AllowedTexts& allowed,
                                 Progress& progress) {
    LeakSearch search;
    TIDEMARK_TRY(for_each_text(original, progress, [&](const FileText& text) -> Status {
        if (!text.is_blob && !is_allowed(text.value, allowed)) {
            search.add(text.value);
        }
        return {};
    }));
    search.prepare();
    const auto schema = schema_text(shared, progress);
    if (!schema) {
        return schema.error();
    }
    search.except(*schema);
    for (const std::string& text : allowed) {
        search.except(text);
    }
    return search;
}

/// Allows the vocabulary: words of enumerations and keys, which no rule of redaction returned.
Status except_vocabulary(LeakSearch& search, const std::string& shared, const AllowedTexts& allowed,
                         Progress& progress) {
    return for_each_text(shared, progress, [&](const FileText& text) -> Status {
        if (!text.is_blob && may_contain(text.table, text.column, text.value, allowed)) {
            search.except(text.value);
        }
        return {};
    });
}

Status check_columns(const std::string& shared, const AllowedTexts& allowed, const LeakSearch& search,
                     Progress& progress) {
    return for_each_text(shared, progress, [&](const FileText& text) -> Status {
        const auto place = [&] { return fmt::format("{}.{}", text.table, text.column); };
        if (!text.is_blob) {
            return may_contain(text.table, text.column, text.value, allowed) ? Status() : leak_error(place());
        }
        if (!has_rule(text.table, text.column, true)) {
            return leak_error(place());
        }
        const auto content = decompressed(text.value);
        if (!content) {
            return content.error();
        }
        return search.finds_any(*content) ? leak_error(place()) : Status();
    });
}

/// Calls visit(bytes) for overlapping parts of the file.
template <class Visit>
Status read_file(const std::string& path, Visit&& visit) {
    constexpr size_t part = 4 << 20, overlap = 64 << 10;
    std::ifstream file(path, std::ios::binary);
    std::string bytes;
    while (file) {
        bytes.erase(0, bytes.size() - std::min(bytes.size(), overlap));
        const size_t kept = bytes.size();
        bytes.resize(kept + part);
        file.read(bytes.data() + kept, part);
        bytes.resize(kept + static_cast<size_t>(file.gcount()));
        TIDEMARK_TRY(visit(std::string_view(bytes)));
    }
    return file.eof() ? Status()
                      : environment_error("{path} cannot be read: {reason}.", with("path", path),
                                          with("reason", system_reason(errno)));
}

}  // namespace

bool has_rule(std::string_view table, std::string_view column, bool is_blob) {
    const ColumnRule* found = rule_of(table, column);
    return found != nullptr && (found->rule == nullptr) == is_blob;
}

bool may_contain(std::string_view table, std::string_view column, std::string_view text, const AllowedTexts& allowed) {
    return has_rule(table, column, false) && rule_of(table, column)->rule(text, allowed);
}

Status check_redacted_file(const std::string& original, const std::string& shared, const AllowedTexts& allowed,
                           Progress& progress) {
    progress.report("checking", 0);
    auto search = words_to_find(original, shared, allowed, progress);
    if (!search) {
        return search.error();
    }
    TIDEMARK_TRY(except_vocabulary(*search, shared, allowed, progress));
    TIDEMARK_TRY(check_columns(shared, allowed, *search, progress));
    return read_file(shared, [&](std::string_view bytes) -> Status {
        return search->finds_any(bytes) ? leak_error(Sentence("the file outside its tables")) : Status();
    });
}

Status check_has_no_number(const std::string& shared, int64_t number) {
    const std::string digits = fmt::to_string(number);
    return read_file(shared, [&](std::string_view bytes) -> Status {
        return bytes.find(digits) != bytes.npos ? leak_error(std::string("meta.start_utc_ns")) : Status();
    });
}

}  // namespace tidemark
