// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A driver for the model that acts as the driver did in a recording.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "storage/base/sentence.h"
#include "storage/whatif/driver.h"
#include "storage/whatif/recorded_moves.h"

namespace tidemark {

/// Returns the memory that the recorded driver returned, refuses where it refused, and records differences between the
/// calls. The order in which segments are returned is not compared.
class RecordedDriver : public Driver {
public:
    explicit RecordedDriver(const std::vector<DriverMove>& moves) : moves_(moves) {}

    std::optional<uint64_t> allocate(uint64_t size, const SegmentOwner& owner) override;
    void free(uint64_t address, uint64_t size) override { return_memory(address, size); }
    uint64_t reserve_addresses(uint64_t size, const SegmentOwner& owner) override;
    bool map(uint64_t address, uint64_t size) override;
    void unmap(uint64_t address, uint64_t size) override { return_memory(address, size); }

    /// Adds a recorded move that must happen next, after those already expected.
    void expect(size_t move);
    bool expects_arrival() const;
    bool expects_return() const;
    bool expects_expandable() const;
    /// Reports the moves that are still expected, which did not happen in the model.
    void finish();

    const std::optional<Sentence>& difference() const { return difference_; }
    /// Returns the segments that the model returned but that stayed in the recording.
    const std::vector<uint64_t>& stayed() const { return stayed_; }

private:
    bool next_arrives(bool expandable) const;
    void return_memory(uint64_t address, uint64_t size);
    void note_difference(Sentence difference);

    const std::vector<DriverMove>& moves_;
    std::deque<const DriverMove*> due_;
    size_t first_due_ = 0;
    std::optional<Sentence> difference_;
    std::vector<uint64_t> stayed_;
};

/// Returns "20.0 MiB at 0x7f12a4000000".
Sentence describe_memory(uint64_t address, uint64_t size);

}  // namespace tidemark
