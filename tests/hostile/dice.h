// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Random choices that are the same in every run: a seed identifies a mutant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>

namespace tidemark::hostile {

class Dice {
public:
    explicit Dice(uint64_t seed) : engine_(seed) {}

    uint64_t bits() { return engine_(); }
    /// Returns a number below `limit`; 0 if the limit is 0.
    uint64_t below(uint64_t limit) { return limit == 0 ? 0 : engine_() % limit; }
    bool one_in(uint64_t n) { return below(n) == 0; }

    template <class T>
    T pick(std::initializer_list<T> choices) {
        return choices.begin()[below(choices.size())];
    }
    template <class T, size_t count>
    const T& pick(const T (&choices)[count]) {
        return choices[below(count)];
    }

    /// Returns a number at the edge of some type, unit or clock, or near `value`.
    int64_t extreme(int64_t value);

private:
    std::mt19937_64 engine_;
};

inline int64_t Dice::extreme(int64_t value) {
    const auto near = static_cast<uint64_t>(value);
    switch (below(4)) {
        case 0: return static_cast<int64_t>(near + pick({uint64_t{1}, ~uint64_t{0}}));
        case 1: return static_cast<int64_t>(near ^ uint64_t{1} << below(64));
        case 2: return static_cast<int64_t>(pick({near * 2, near * 1000, near << 32, ~near + 1}));
        default:
            return pick<int64_t>({0,
                                  1,
                                  -1,
                                  2,
                                  255,
                                  65536,
                                  (int64_t{1} << 31) - 1,
                                  int64_t{1} << 31,
                                  (int64_t{1} << 31) + 1,
                                  -(int64_t{1} << 31),
                                  (int64_t{1} << 32) - 1,
                                  int64_t{1} << 32,
                                  int64_t{1} << 40,
                                  int64_t{1} << 53,
                                  int64_t{1} << 60,
                                  int64_t{1} << 62,
                                  1'000'000'000'000'000'000,
                                  1'760'000'000'000'000'000,
                                  INT64_MAX,
                                  INT64_MAX - 1,
                                  INT64_MIN,
                                  INT64_MIN + 1});
    }
}

}  // namespace tidemark::hostile
