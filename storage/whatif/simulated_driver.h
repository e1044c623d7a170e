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

/// Memory has its recorded address where the same memory arrives at the same event, because best fit selects by address
/// among blocks of one size; else it is above everything recorded.
class SimulatedDriver : public Driver {
public:
    /// `capacity`: bytes that may be reserved at once; negative: no limit.
    SimulatedDriver(const std::vector<DriverMove>& moves, int64_t capacity);

    /// Takes the place of memory from before the history.
    void retention(uint64_t address, uint64_t size);
    /// The segment that arrives in the recording now; nullptr: none does.
    void set_recorded(const DriverMove* move) { recorded_ = move; }

    std::optional<uint64_t> allocate(uint64_t size, const SegmentOwner& owner) override;
    void free(uint64_t address, uint64_t size) override;
    uint64_t reserve_addresses(uint64_t size, const SegmentOwner& owner) override;
    bool map(uint64_t address, uint64_t size) override;
    void unmap(uint64_t address, uint64_t size) override;

    int64_t reserved = 0;  ///< bytes given so far

private:
    bool take(uint64_t size);
    bool is_taken(uint64_t address, uint64_t size) const;
    uint64_t place(uint64_t size, bool as_recorded);

    const int64_t capacity_;
    const DriverMove* recorded_ = nullptr;
    std::map<uint64_t, uint64_t> taken_;  ///< ends by address
    uint64_t next_ = uint64_t{1} << 32;   ///< where nothing recorded lies
};

}  // namespace tidemark
