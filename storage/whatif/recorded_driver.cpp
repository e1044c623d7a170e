// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/whatif/recorded_driver.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/base/units.h"

namespace tidemark {

std::string describe_memory(uint64_t address, uint64_t size) {
    return fmt::format("{} at {}", format_bytes(static_cast<int64_t>(size)), format_address(address));
}

void RecordedDriver::note_difference(std::string text) {
    if (difference_.empty()) {
        difference_ = std::move(text);
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
        note_difference(fmt::format("a segment of {} came; the model asks for {}",
                                    format_bytes(static_cast<int64_t>(move.size)),
                                    format_bytes(static_cast<int64_t>(size))));
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
        note_difference(fmt::format("{} was mapped; the model maps {}", describe_memory(move.address, move.size),
                                    describe_memory(address, size)));
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
    note_difference(fmt::format("the model gives {} back, which stayed", describe_memory(address, size)));
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
        note_difference(fmt::format("{} {}; not in the model", describe_memory(move.address, move.size),
                                    move.arrives ? "came from the driver" : "was returned to it"));
    }
    due_.clear();
}

}  // namespace tidemark
