// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// An amount that changes at known times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tidemark {

/// Collects changes in any order. Call settle() once after the last one, then query.
class Amount {
public:
    struct Value {
        int64_t bytes = 0, count = 0;
    };

    void change(int64_t time, int64_t bytes, int64_t count) { steps_.push_back({time, {bytes, count}}); }

    /// Adds the changes of an amount that is settled.
    void add(const Amount& settled) {
        Value before;
        for (const Step& step : settled.steps_) {
            change(step.time, step.value.bytes - before.bytes, step.value.count - before.count);
            before = step.value;
        }
    }

    void settle() {
        std::stable_sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) { return a.time < b.time; });
        Value sum;
        for (Step& step : steps_) {
            step.value = sum = {sum.bytes + step.value.bytes, sum.count + step.value.count};
        }
    }

    /// Calls visit(bytes) for the value at `from` and for each one that it changes to until `until`.
    template <class Visit>
    void for_each_value(int64_t from, int64_t until, Visit&& visit) const {
        visit(at(from).bytes);
        auto step =
            std::upper_bound(steps_.begin(), steps_.end(), from, [](int64_t t, const Step& s) { return t < s.time; });
        for (; step != steps_.end() && step->time <= until; ++step) {
            visit(step->value.bytes);
        }
    }

    /// Returns the value after all changes at or before `time`.
    Value at(int64_t time) const {
        const auto after = std::upper_bound(steps_.begin(), steps_.end(), time,
                                            [](int64_t t, const Step& step) { return t < step.time; });
        return after == steps_.begin() ? Value() : std::prev(after)->value;
    }

private:
    struct Step {
        int64_t time = 0;
        Value value;
    };
    std::vector<Step> steps_;
};

}  // namespace tidemark
