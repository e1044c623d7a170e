// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/whatif/asked_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "storage/base/parse_number.h"

namespace tidemark {

namespace {

constexpr const char* variable = "PYTORCH_CUDA_ALLOC_CONF";
constexpr std::string_view expandable = "expandable_segments", max_split = "max_split_size_mb",
                           divisions = "roundup_power2_divisions", threshold = "garbage_collection_threshold";
/// Settings that configuration_text() writes from their values.
constexpr std::array written{expandable, max_split, divisions, threshold};

struct Option {
    std::string key, value;
};

/// Splits "a:1,b:[2:3,>:4]" at the commas outside of brackets. Options without a value have none.
std::vector<Option> options_of(std::string text) {
    std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
    std::vector<Option> options;
    size_t begin = 0;
    int depth = 0;
    for (size_t i = 0; i <= text.size(); ++i) {
        depth += i < text.size() ? (text[i] == '[') - (text[i] == ']') : 0;
        if (i < text.size() && (text[i] != ',' || depth > 0)) {
            continue;
        }
        if (i > begin) {
            const std::string option = text.substr(begin, i - begin);
            const size_t colon = std::min(option.find(':'), option.size());
            options.push_back({option.substr(0, colon), option.substr(std::min(colon + 1, option.size()))});
        }
        begin = i + 1;
    }
    return options;
}

Error wrong_value(const Option& option, const char* accepted) {
    return usage_error("{setting} does not take \"{value}\". It takes {accepted}.", with("setting", option.key),
                       with("value", option.value), with("accepted", accepted));
}

Status set_expandable(const Option& option, Change& change) {
    if (option.value != "True" && option.value != "False") {
        return wrong_value(option, "True, False");
    }
    change.expandable_segments = option.value == "True";
    return {};
}

Status set_max_split(const Option& option, Change& change) {
    constexpr uint64_t most = uint64_t{1} << 43;  // MiB: more do not fit in 64 bits of bytes
    const auto megabytes = parse_number<uint64_t>(option.value);
    if (!megabytes || *megabytes <= AllocatorSettings().large_segment >> 20 || *megabytes >= most) {
        return wrong_value(option, "21, 22, ... (MiB)");
    }
    change.max_split_size = *megabytes << 20;
    return {};
}

/// PyTorch's own parser reads the lists "[256:1,512:2,>:4]"; each of their values must be a power of two.
Status set_divisions(const Option& option, Change& change) {
    const nlohmann::json text = fmt::format("{}:{}", divisions, option.value);
    const RoundupDivisions values = AllocatorSettings::from_text({{variable, text.dump()}}).roundup_divisions;
    const bool is_list = option.value.starts_with('[') && option.value.ends_with(']');
    if ((!is_list && !parse_number<uint64_t>(option.value)) ||
        !std::all_of(values.begin(), values.end(), [](uint64_t value) { return std::has_single_bit(value); })) {
        return wrong_value(option, "1, 2, 4, 8, ..., [256:1,512:2,1024:4,>:8]");
    }
    change.roundup_divisions = values;
    return {};
}

Status set_threshold(const Option& option, Change& change) {
    const auto value = parse_number<double>(option.value);
    if (!value || !(*value > 0 && *value < 1)) {
        return wrong_value(option, "0 < x < 1");
    }
    change.garbage_collection_threshold = *value;
    return {};
}

Status add_option(const Option& option, Change& change) {
    if (option.key == expandable) {
        return set_expandable(option, change);
    }
    if (option.key == max_split) {
        return set_max_split(option, change);
    }
    if (option.key == divisions) {
        return set_divisions(option, change);
    }
    if (option.key == threshold) {
        return set_threshold(option, change);
    }
    if (option.key == "backend") {
        return usage_error(
            "The model is that of PyTorch's native allocator. Record the program with backend:{backend} instead.",
            with("backend", option.value));
    }
    return usage_error("The model does not know the setting \"{setting}\". It knows {known}.",
                       with("setting", option.key), with("known", fmt::format("{}", fmt::join(written, ", "))));
}

std::string recorded_text(const std::map<std::string, std::string>& recorded) {
    const auto found = recorded.find(variable);
    const auto value =
        found == recorded.end() ? nlohmann::json() : nlohmann::json::parse(found->second, nullptr, false);
    return value.is_string() ? value.get<std::string>() : std::string();
}

std::string divisions_text(const RoundupDivisions& values) {
    if (std::all_of(values.begin(), values.end(), [&](uint64_t value) { return value == values.front(); })) {
        return fmt::format("{}", values.front());
    }
    std::string text;
    for (size_t i = 0; i < values.size(); ++i) {
        const bool is_last = i + 1 == values.size();
        text += fmt::format("{}:{}{}", is_last ? ">" : fmt::format("{}", uint64_t{1} << i),
                            std::max<uint64_t>(values[i], 1), is_last ? "" : ",");
    }
    return fmt::format("[{}]", text);
}

}  // namespace

Status add_configuration(const std::string& configuration, Change& change) {
    for (const Option& option : options_of(configuration)) {
        TIDEMARK_TRY(add_option(option, change));
    }
    return {};
}

AllocatorSettings changed_settings(AllocatorSettings settings, const Change& change) {
    settings.expandable_segments = change.expandable_segments.value_or(settings.expandable_segments);
    settings.max_split_size = change.max_split_size.value_or(settings.max_split_size);
    settings.garbage_collection_threshold =
        change.garbage_collection_threshold.value_or(settings.garbage_collection_threshold);
    settings.roundup_divisions = change.roundup_divisions.value_or(settings.roundup_divisions);
    return settings;
}

std::string configuration_text(const std::map<std::string, std::string>& recorded, const Change& change) {
    const AllocatorSettings settings = changed_settings(AllocatorSettings::from_text(recorded), change);
    std::vector<std::string> texts;
    if (settings.expandable_segments) {
        texts.push_back(fmt::format("{}:True", expandable));
    }
    if (settings.max_split_size != UINT64_MAX) {
        texts.push_back(fmt::format("{}:{}", max_split, settings.max_split_size >> 20));
    }
    if (std::any_of(settings.roundup_divisions.begin(), settings.roundup_divisions.end(),
                    [](uint64_t value) { return value > 1; })) {
        texts.push_back(fmt::format("{}:{}", divisions, divisions_text(settings.roundup_divisions)));
    }
    if (settings.garbage_collection_threshold > 0) {
        texts.push_back(fmt::format("{}:{}", threshold, settings.garbage_collection_threshold));
    }
    for (const Option& option : options_of(recorded_text(recorded))) {
        if (std::find(written.begin(), written.end(), option.key) == written.end()) {
            texts.push_back(fmt::format("{}:{}", option.key, option.value));
        }
    }
    return fmt::format("{}", fmt::join(texts, ","));
}

}  // namespace tidemark
