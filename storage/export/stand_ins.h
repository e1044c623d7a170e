// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Names for texts that a redacted trace must not contain.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tidemark {

/// Assigns "file1.py", "file2.py", ... to texts in the order of their first use; equal texts get the same stand-in.
class StandIns {
public:
    /// `taken`: texts of the trace. A stand-in never equals one of them. It must outlive this object.
    StandIns(std::string kind, const std::unordered_set<std::string>& taken) : kind_(std::move(kind)), taken_(taken) {}

    const std::string& operator()(const std::string& text, std::string_view ending = {}) {
        auto& stand_in = stand_ins_[text];
        while (stand_in.empty() || taken_.contains(stand_in)) {
            stand_in = fmt::format("{}{}{}", kind_, ++count_, ending);
        }
        return stand_in;
    }

private:
    std::string kind_;
    const std::unordered_set<std::string>& taken_;
    std::unordered_map<std::string, std::string> stand_ins_;
    int count_ = 0;
};

/// Stand-ins of ranges that repeat with a number: "epoch 1" and "epoch 2" become "range_a.1" and "range_a.2", because
/// readers recognize iterations by names that differ only in their number.
class RangeStandIns {
public:
    explicit RangeStandIns(const std::unordered_set<std::string>& taken) : taken_(taken) {}

    std::string operator()(const std::string& text) {
        const size_t letters = text.find_last_not_of("0123456789") + 1;
        Range& range = ranges_[text.substr(0, letters)];
        while (range.stand_in.empty() || taken_.contains(range.stand_in)) {
            range.stand_in = fmt::format("range_{}", letters_of(count_++));
        }
        if (letters == text.size()) {
            return range.stand_in;
        }
        const auto [number, is_new] = range.numbers.try_emplace(text.substr(letters), range.numbers.size() + 1);
        return fmt::format("{}.{}", range.stand_in, number->second);
    }

private:
    struct Range {
        std::string stand_in;
        std::unordered_map<std::string, size_t> numbers;
    };

    /// "a", "b", ..., "z", "aa", "ab", ...
    static std::string letters_of(size_t number) {
        std::string letters(1, static_cast<char>('a' + number % 26));
        while ((number /= 26) > 0) {
            --number;
            letters.insert(letters.begin(), static_cast<char>('a' + number % 26));
        }
        return letters;
    }

    const std::unordered_set<std::string>& taken_;
    std::unordered_map<std::string, Range> ranges_;
    size_t count_ = 0;
};

}  // namespace tidemark
