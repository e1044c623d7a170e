// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A driver with a given capacity, for replays with other settings.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "storage/whatif/driver.h"
#include "storage/whatif/recorded_moves.h"

namespace tidemark {

/// Memory gets its recorded address if the same memory is added at the same event, because best fit selects by address
/// among blocks of one size. Otherwise it gets an address above all recorded ones.
class SimulatedDriver : public Driver {
public:
    /// `capacity`: bytes that may be reserved at once; negative: no limit.
    SimulatedDriver(const std::vector<DriverMove>& moves, int64_t capacity);

    /// Marks the addresses of memory from before the history as used.
    void reserve_existing(uint64_t address, uint64_t size);
    /// Sets the segment that the recording adds at this event; nullptr if there is none.
    void set_recorded(const DriverMove* move) { recorded_ = move; }

    std::optional<uint64_t> allocate(uint64_t size, const SegmentOwner& owner) override;
    void free(uint64_t address, uint64_t size) override;
    uint64_t reserve_addresses(uint64_t size, const SegmentOwner& owner) override;
    bool map(uint64_t address, uint64_t size) override;
    void unmap(uint64_t address, uint64_t size) override;

    int64_t reserved = 0;  ///< bytes currently reserved

private:
    bool take(uint64_t size);
    bool is_used(uint64_t address, uint64_t size) const;
    uint64_t place(uint64_t size, bool as_recorded);

    const int64_t capacity_;
    const DriverMove* recorded_ = nullptr;
    std::map<uint64_t, uint64_t> used_;  ///< ends by address
    uint64_t next_ = uint64_t{1} << 32;  ///< an address above all recorded memory
};

}  // namespace tidemark
