// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/whatif/recorded_driver.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/base/units.h"

namespace tidemark {

Sentence describe_memory(uint64_t address, uint64_t size) {
    return Sentence("{bytes} at {address}", with("bytes", format_bytes(static_cast<int64_t>(size))),
                    with("address", format_address(address)));
}

void RecordedDriver::note_difference(Sentence difference) {
    if (!difference_) {
        difference_ = std::move(difference);
    }
}

bool RecordedDriver::next_arrives(bool expandable) const {
    return !due_.empty() && due_.front()->arrives && due_.front()->owner.is_expandable == expandable;
}

std::optional<uint64_t> RecordedDriver::allocate(uint64_t size, const SegmentOwner&) {
    if (!next_arrives(false)) {
        return std::nullopt;
    }
    const DriverMove& move = *due_.front();
    if (move.size != size) {
        note_difference(Sentence("the driver returned a segment of {recorded}; the model requests {modeled}",
                                 with("recorded", format_bytes(static_cast<int64_t>(move.size))),
                                 with("modeled", format_bytes(static_cast<int64_t>(size)))));
        return std::nullopt;
    }
    due_.pop_front();
    return move.address;
}

uint64_t RecordedDriver::reserve_addresses(uint64_t, const SegmentOwner& owner) {
    for (size_t m = first_due_; m < moves_.size(); ++m) {
        const SegmentOwner& other = moves_[m].owner;
        if (moves_[m].arrives && other.is_expandable && other.pool == owner.pool && other.stream == owner.stream &&
            other.is_large == owner.is_large) {
            return moves_[m].address;
        }
    }
    constexpr uint64_t unused_address = uint64_t{1} << 62;
    return unused_address;
}

bool RecordedDriver::map(uint64_t address, uint64_t size) {
    if (!next_arrives(true)) {
        return false;
    }
    const DriverMove& move = *due_.front();
    if (move.address != address || move.size != size) {
        note_difference(Sentence("{recorded} was mapped; the model maps {modeled}",
                                 with("recorded", describe_memory(move.address, move.size)),
                                 with("modeled", describe_memory(address, size))));
        return false;
    }
    due_.pop_front();
    return true;
}

void RecordedDriver::return_memory(uint64_t address, uint64_t size) {
    for (auto move = due_.begin(); move != due_.end() && !(*move)->arrives; ++move) {
        if ((*move)->address == address && (*move)->size == size) {
            due_.erase(move);
            return;
        }
    }
    stayed_.push_back(address);
    note_difference(Sentence("the model returns {memory} to the driver; the recorded allocator did not",
                             with("memory", describe_memory(address, size))));
}

void RecordedDriver::expect(size_t move) {
    if (due_.empty()) {
        first_due_ = move;
    }
    due_.push_back(&moves_[move]);
}

bool RecordedDriver::expects_arrival() const {
    return std::any_of(due_.begin(), due_.end(), [](const DriverMove* move) { return move->arrives; });
}

bool RecordedDriver::expects_return() const {
    return std::any_of(due_.begin(), due_.end(), [](const DriverMove* move) { return !move->arrives; });
}

bool RecordedDriver::expects_expandable() const {
    return std::any_of(due_.begin(), due_.end(), [](const DriverMove* move) { return move->owner.is_expandable; });
}

void RecordedDriver::finish() {
    if (!due_.empty()) {
        const DriverMove& move = *due_.front();
        const auto memory = with("memory", describe_memory(move.address, move.size));
        note_difference(move.arrives
                            ? Sentence("the driver returned {memory}, which the model does not request", memory)
                            : Sentence("{memory} was returned to the driver, but not by the model", memory));
    }
    due_.clear();
}

}  // namespace tidemark
