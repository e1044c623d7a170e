// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/frames/line_table.h"

namespace tidemark::frames {

namespace {

enum EntryCode : uint8_t { one_line_first = 10, one_line_last = 12, no_columns = 13, long_form = 14, no_location = 15 };

/// Decodes a number in groups of six bits, lowest first. Bit 6: more groups follow. The lowest bit is the sign.
int signed_number(std::span<const uint8_t> bytes) {
    uint32_t value = 0;
    unsigned shift = 0;
    for (const uint8_t byte : bytes) {
        value |= static_cast<uint32_t>(byte & 63) << shift;
        shift += 6;
        if ((byte & 64) == 0 || shift > 30) {
            break;
        }
    }
    const int magnitude = static_cast<int>(value >> 1);
    return (value & 1) != 0 ? -magnitude : magnitude;
}

int line_step(uint8_t code, std::span<const uint8_t> rest) {
    if (code == long_form || code == no_columns) {
        return signed_number(rest);
    }
    return code >= one_line_first && code <= one_line_last ? code - one_line_first : 0;
}

}  // namespace

int line_of(std::span<const uint8_t> table, int first_line, int64_t offset) {
    int line = first_line;
    int64_t covered = 0;
    for (size_t at = 0; at < table.size();) {
        const uint8_t head = table[at++];
        const uint8_t code = (head >> 3) & 15;
        line += line_step(code, table.subspan(at));
        covered += (head & 7) + 1;
        if (offset < covered) {
            return code == no_location ? 0 : line;
        }
        while (at < table.size() && (table[at] & 128) == 0) {
            ++at;  // an entry's first byte, and only that, has bit 7
        }
    }
    return 0;
}

int line_of_3_10(std::span<const uint8_t> table, int first_line, int64_t offset) {
    constexpr int no_line = -128;
    int line = first_line;
    int64_t covered = 0;  // in bytes
    for (size_t at = 0; at + 1 < table.size(); at += 2) {
        const auto step = static_cast<int8_t>(table[at + 1]);
        covered += table[at];
        line += step == no_line ? 0 : step;
        if (2 * offset < covered) {
            return step == no_line ? 0 : line;
        }
    }
    return 0;
}

}  // namespace tidemark::frames
