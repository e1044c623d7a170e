// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/trace/packed_counters.h"

#include <optional>

namespace tidemark {

namespace {

constexpr size_t most_counters = 1024;
constexpr size_t longest_number = 10;  // bytes

void put(std::string& bytes, uint64_t difference) {
    const auto value = static_cast<int64_t>(difference);
    uint64_t left = static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
    for (; left >= 0x80; left >>= 7) {
        bytes.push_back(static_cast<char>(left | 0x80));
    }
    bytes.push_back(static_cast<char>(left));
}

std::optional<uint64_t> take(std::string_view& bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size() && i < longest_number; ++i) {
        const auto byte = static_cast<uint8_t>(bytes[i]);
        value |= uint64_t{byte & 0x7fu} << (7 * i);
        if (byte < 0x80) {
            bytes.remove_prefix(i + 1);
            return value >> 1 ^ (~(value & 1) + 1);
        }
    }
    return std::nullopt;
}

}  // namespace

std::string packed_counters(std::span<const int64_t> values) {
    std::string bytes;
    for (size_t i = 0; i + 4 <= values.size(); i += 4) {
        const auto current = static_cast<uint64_t>(values[i]), peak = static_cast<uint64_t>(values[i + 1]),
                   allocated = static_cast<uint64_t>(values[i + 2]), freed = static_cast<uint64_t>(values[i + 3]);
        put(bytes, current);
        put(bytes, peak - current);
        put(bytes, allocated);
        put(bytes, freed + current - allocated);
    }
    return bytes;
}

std::vector<int64_t> unpacked_counters(std::string_view bytes) {
    std::vector<int64_t> values;
    while (!bytes.empty() && values.size() < most_counters * 4) {
        const auto current = take(bytes), peak = take(bytes), allocated = take(bytes), freed = take(bytes);
        if (!current || !peak || !allocated || !freed) {
            return {};
        }
        for (const uint64_t value : {*current, *peak + *current, *allocated, *freed + *allocated - *current}) {
            values.push_back(static_cast<int64_t>(value));
        }
    }
    return values;
}

}  // namespace tidemark
