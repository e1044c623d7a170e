// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/whatif/simulated_driver.h"

#include <algorithm>

namespace tidemark {

SimulatedDriver::SimulatedDriver(const std::vector<DriverMove>& moves, int64_t capacity) : capacity_(capacity) {
    for (const DriverMove& move : moves) {
        next_ = std::max(next_, move.address + move.size);
    }
}

void SimulatedDriver::reserve_existing(uint64_t address, uint64_t size) {
    used_[address] = address + size;
    next_ = std::max(next_, address + size);
}

bool SimulatedDriver::take(uint64_t size) {
    const int64_t bytes = static_cast<int64_t>(size);
    if (capacity_ >= 0 && reserved + bytes > capacity_) {
        return false;
    }
    reserved += bytes;
    return true;
}

bool SimulatedDriver::is_used(uint64_t address, uint64_t size) const {
    const auto above = used_.lower_bound(address);
    return (above != used_.end() && above->first < address + size) ||
           (above != used_.begin() && std::prev(above)->second > address);
}

uint64_t SimulatedDriver::place(uint64_t size, bool as_recorded) {
    uint64_t address = as_recorded ? recorded_->address : 0;
    if (!as_recorded || is_used(address, size)) {
        address = (next_ + small_segment - 1) / small_segment * small_segment;
        next_ = address + size;
    }
    used_[address] = address + size;
    return address;
}

std::optional<uint64_t> SimulatedDriver::allocate(uint64_t size, const SegmentOwner&) {
    if (!take(size)) {
        return std::nullopt;
    }
    return place(size, recorded_ != nullptr && !recorded_->owner.is_expandable && recorded_->size == size);
}

void SimulatedDriver::free(uint64_t address, uint64_t size) {
    reserved -= static_cast<int64_t>(size);
    used_.erase(address);
}

uint64_t SimulatedDriver::reserve_addresses(uint64_t size, const SegmentOwner& owner) {
    return place(size,
                 recorded_ != nullptr && recorded_->owner.is_expandable && recorded_->owner.is_large == owner.is_large);
}

bool SimulatedDriver::map(uint64_t, uint64_t size) { return take(size); }

void SimulatedDriver::unmap(uint64_t, uint64_t size) { reserved -= static_cast<int64_t>(size); }

}  // namespace tidemark
