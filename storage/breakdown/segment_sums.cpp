// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/breakdown/segment_sums.h"

#include <array>

namespace tidemark {
namespace {

constexpr EventNumber states_per_sum = 64;
constexpr std::array fields{&SegmentSums::reserved,     &SegmentSums::cached,           &SegmentSums::cached_segments,
                            &SegmentSums::private_free, &SegmentSums::private_segments, &SegmentSums::partial_segments};
constexpr uint8_t payload = 0x7f, more = 0x80;

/// Appends the number in groups of 7 bits, lowest first; its lowest bit is the sign.
void put(std::vector<uint8_t>& bytes, int64_t number) {
    auto rest = static_cast<uint64_t>(number) << 1 ^ static_cast<uint64_t>(number >> 63);
    for (; rest > payload; rest >>= 7) {
        bytes.push_back(static_cast<uint8_t>((rest & payload) | more));
    }
    bytes.push_back(static_cast<uint8_t>(rest));
}

int64_t take(const std::vector<uint8_t>& bytes, size_t& at) {
    uint64_t coded = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint8_t byte = bytes[at++];
        coded |= static_cast<uint64_t>(byte & payload) << shift;
        if ((byte & more) == 0) {
            return static_cast<int64_t>(coded >> 1 ^ (~(coded & 1) + 1));
        }
    }
}

}  // namespace

void SegmentSumsHistory::append(const SegmentSums& sums) {
    const EventNumber distance = states_++ % states_per_sum;
    if (distance == 0) {
        checkpoints_.push_back({sums, changes_.size()});
    } else if (sums != last_) {
        changes_.push_back(static_cast<uint8_t>(distance));
        const size_t changed = changes_.size();
        changes_.push_back(0);
        for (size_t i = 0; i < fields.size(); ++i) {
            if (const int64_t difference = sums.*fields[i] - last_.*fields[i]; difference != 0) {
                changes_[changed] |= static_cast<uint8_t>(1U << i);
                put(changes_, difference);
            }
        }
    }
    last_ = sums;
}

SegmentSums SegmentSumsHistory::at(EventNumber n) const {
    const auto checkpoint = static_cast<size_t>(n / states_per_sum);
    const bool is_last = checkpoint + 1 == checkpoints_.size();
    const size_t end = is_last ? changes_.size() : checkpoints_[checkpoint + 1].changes;
    SegmentSums sums = checkpoints_[checkpoint].sums;
    size_t at = checkpoints_[checkpoint].changes;
    while (at < end && changes_[at] <= n % states_per_sum) {
        const uint8_t changed = changes_[at + 1];
        at += 2;
        for (size_t i = 0; i < fields.size(); ++i) {
            if ((changed >> i & 1) != 0) {
                sums.*fields[i] += take(changes_, at);
            }
        }
    }
    return sums;
}

}  // namespace tidemark
