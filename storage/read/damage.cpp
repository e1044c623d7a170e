// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/read/damage.h"

#include "storage/trace/limits.h"

namespace tidemark {

void Damage::add(DataGapReason reason, int64_t count, int device) {
    if (count > 0) {
        counts_[{device, reason}] += count;
    }
}

void Damage::add(const Damage& other) {
    for (const auto& [key, count] : other.counts_) {
        counts_[key] += count;
    }
}

int64_t Damage::time(int64_t time, int64_t otherwise) {
    if (is_time(time)) {
        return time;
    }
    add(DataGapReason::times_out_of_range);
    return otherwise;
}

std::optional<int64_t> Damage::time(std::optional<int64_t> time) {
    if (time && !is_time(*time)) {
        add(DataGapReason::times_out_of_range);
        return std::nullopt;
    }
    return time;
}

int64_t Damage::end(int64_t start, int64_t end) {
    const int64_t known = time(end, start);
    if (known >= start) {
        return known;
    }
    add(DataGapReason::ends_before_starts);
    return start;
}

std::optional<int64_t> Damage::end(int64_t start, std::optional<int64_t> end) {
    return end ? std::optional(this->end(start, *end)) : std::nullopt;
}

std::vector<DataGap> Damage::data_gaps() const {
    std::vector<DataGap> gaps;
    gaps.reserve(counts_.size());
    for (const auto& [key, count] : counts_) {
        gaps.push_back({DataGapKind::damaged, key.first, 0, count, 0, key.second, {}, {}});
    }
    return gaps;
}

}  // namespace tidemark
