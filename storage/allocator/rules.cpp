// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/allocator/rules.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

namespace tidemark {

namespace {

uint64_t divisions_for(const AllocatorSettings& settings, uint64_t size) {
    // Index 0 covers all sizes below 2 MiB; the last index covers all larger sizes.
    const int log_size = 63 - std::countl_zero(size);
    const int index = std::clamp(log_size - 20, 0, static_cast<int>(settings.roundup_divisions.size()) - 1);
    return settings.roundup_divisions[static_cast<size_t>(index)];
}

uint64_t next_power2_division(uint64_t size, uint64_t divisions) {
    if (std::has_single_bit(size)) {
        return size;
    }
    const uint64_t floor = std::bit_floor(size);
    const uint64_t step = floor >> (63 - std::countl_zero(divisions));
    if (step == 0) {
        return floor << 1;
    }
    const uint64_t down = size & ~(step - 1);
    return down == size ? size : down + step;
}

std::string without_spaces(std::string text) {
    std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
    return text;
}

/// Returns the value of a key in "key:value,key:value"; empty if the key is missing.
std::string option(const std::string& configuration, const std::string& key) {
    const std::string text = "," + configuration;
    const size_t at = text.find("," + key + ":");
    if (at == std::string::npos) {
        return {};
    }
    const size_t start = at + key.size() + 2;
    return text.substr(start, text.find(text[start] == '[' ? ']' : ',', start) - start);
}

double number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

void read_megabytes(const std::string& configuration, const char* key, uint64_t& value) {
    // 2^43 MiB and more do not fit in 64 bits of bytes.
    if (const double megabytes = number(option(configuration, key)); megabytes >= 1 && megabytes < 0x1p43) {
        value = static_cast<uint64_t>(megabytes) << 20;
    }
}

/// Reads "8", or "[256:1,512:2,>:4]": divisions for requests of so many MiB. The first entry also covers smaller
/// requests, ">" all larger ones.
void read_divisions(const std::string& text, std::array<uint64_t, 16>& divisions) {
    if (!text.starts_with('[')) {
        divisions.fill(std::strtoull(text.c_str(), nullptr, 10));
        return;
    }
    std::istringstream entries(text.substr(1));
    size_t filled = 0;
    for (std::string entry; std::getline(entries, entry, ',');) {
        const size_t colon = entry.find(':');
        const uint64_t value = colon == std::string::npos ? 0 : std::strtoull(entry.c_str() + colon + 1, nullptr, 10);
        const uint64_t megabytes = std::strtoull(entry.c_str(), nullptr, 10);
        const size_t index = megabytes == 0 ? filled : std::min<size_t>(15, std::bit_width(megabytes) - 1);
        std::fill(divisions.begin() + (filled == 0 ? 0 : index),
                  megabytes == 0 ? divisions.end() : divisions.begin() + index + 1, value);
        filled = index + 1;
    }
}

void read_configuration(const std::string& text, AllocatorSettings& settings) {
    const std::string configuration = without_spaces(text);
    read_megabytes(configuration, "max_split_size_mb", settings.max_split_size);
    read_megabytes(configuration, "max_non_split_rounding_mb", settings.max_non_split_rounding);
    read_megabytes(configuration, "large_segment_size_mb", settings.large_segment);
    settings.garbage_collection_threshold = number(option(configuration, "garbage_collection_threshold"));
    settings.memory_fraction = number(option(configuration, "per_process_memory_fraction"));
    settings.expandable_segments = option(configuration, "expandable_segments") == "True";
    read_divisions(option(configuration, "roundup_power2_divisions"), settings.roundup_divisions);
}

}  // namespace

AllocatorSettings AllocatorSettings::from_text(const std::map<std::string, std::string>& settings) {
    AllocatorSettings result;
    const auto value = [&](const char* key) {
        const auto found = settings.find(key);
        return found == settings.end() ? nlohmann::json() : nlohmann::json::parse(found->second, nullptr, false);
    };
    if (const auto configuration = value("PYTORCH_CUDA_ALLOC_CONF"); configuration.is_string()) {
        read_configuration(configuration.get<std::string>(), result);
    }
    if (const auto split = value("max_split_size"); split.is_number_integer() && split.get<int64_t>() > 0) {
        result.max_split_size = split.get<uint64_t>();
    }
    if (const auto threshold = value("garbage_collection_threshold"); threshold.is_number() && threshold > 0) {
        result.garbage_collection_threshold = threshold.get<double>();
    }
    // Recordings store this setting before the first allocation, when PyTorch has not parsed its configuration yet.
    if (const auto expandable = value("expandable_segments"); expandable.is_boolean() && expandable.get<bool>()) {
        result.expandable_segments = true;
    }
    if (const auto divisions = value("roundup_power2_divisions"); divisions.is_object()) {
        for (size_t i = 0; i < result.roundup_divisions.size(); ++i) {
            const auto found = divisions.find(std::to_string(uint64_t{1} << i));
            if (found != divisions.end() && found->is_number_unsigned() && *found != 0) {
                result.roundup_divisions[i] = found->get<uint64_t>();
            }
        }
    }
    return result;
}

uint64_t round_size(const AllocatorSettings& settings, uint64_t requested) {
    if (requested < min_block_size) {
        return min_block_size;
    }
    const uint64_t divisions = divisions_for(settings, requested);
    if (divisions > 1 && requested > min_block_size * divisions) {
        return next_power2_division(requested, divisions);
    }
    return (requested + min_block_size - 1) / min_block_size * min_block_size;
}

uint64_t segment_size(const AllocatorSettings& settings, uint64_t rounded) {
    if (rounded <= small_size) {
        return small_segment;
    }
    if (rounded < min_own_segment) {
        return settings.large_segment;
    }
    return (rounded + own_segment_multiple - 1) / own_segment_multiple * own_segment_multiple;
}

bool should_split(const AllocatorSettings& settings, uint64_t rounded, uint64_t remaining, bool is_large,
                  bool is_expandable) {
    if (!is_large || is_expandable) {
        return remaining >= min_block_size;
    }
    return rounded < settings.max_split_size && remaining > small_size;
}

}  // namespace tidemark
