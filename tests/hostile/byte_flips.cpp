// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "tests/hostile/dice.h"
#include "tests/hostile/trace_mutator.h"

namespace tidemark::hostile {

namespace {

std::string flip_bit(Bytes& bytes, Dice& dice) {
    const size_t at = dice.below(bytes.size());
    const auto bit = dice.below(8);
    bytes[at] ^= static_cast<uint8_t>(1 << bit);
    return fmt::format("bit {} of byte {}", bit, at);
}

std::string set_byte(Bytes& bytes, Dice& dice) {
    const size_t at = dice.below(bytes.size());
    bytes[at] = static_cast<uint8_t>(dice.bits());
    return fmt::format("byte {} = {}", at, bytes[at]);
}

/// Zeros or copies a span, as a failing disk or a torn write does.
std::string overwrite_span(Bytes& bytes, Dice& dice) {
    const size_t length = std::min<size_t>(dice.pick({4, 64, 512, 4096}), bytes.size());
    const size_t to = dice.below(bytes.size() - length + 1), from = dice.below(bytes.size() - length + 1);
    if (dice.one_in(2)) {
        std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(to), length, uint8_t{0});
        return fmt::format("{} bytes from {} = 0", length, to);
    }
    const Bytes copy(bytes.begin() + static_cast<ptrdiff_t>(from),
                     bytes.begin() + static_cast<ptrdiff_t>(from + length));
    std::copy(copy.begin(), copy.end(), bytes.begin() + static_cast<ptrdiff_t>(to));
    return fmt::format("{} bytes from {} = those from {}", length, to, from);
}

std::string change_length(Bytes& bytes, Dice& dice) {
    if (dice.one_in(3)) {
        bytes.resize(bytes.size() + dice.pick({1, 4096, 65536}));
    } else {
        bytes.resize(dice.below(bytes.size()));
    }
    return fmt::format("length {}", bytes.size());
}

}  // namespace

Mutant flip_bytes(std::span<const uint8_t> file, uint64_t seed, uint64_t most) {
    Dice dice(seed);
    Mutant mutant{Bytes(file.begin(), file.end()), {}};
    const uint64_t changes = std::min<uint64_t>(dice.pick({1, 1, 1, 2, 8}), most);
    for (uint64_t i = 0; i < changes && !mutant.bytes.empty(); ++i) {
        const uint64_t kind = dice.below(8);
        mutant.changes += mutant.changes.empty() ? "" : "; ";
        mutant.changes += kind < 4    ? flip_bit(mutant.bytes, dice)
                          : kind < 6  ? set_byte(mutant.bytes, dice)
                          : kind == 6 ? overwrite_span(mutant.bytes, dice)
                                      : change_length(mutant.bytes, dice);
    }
    return mutant;
}

}  // namespace tidemark::hostile
