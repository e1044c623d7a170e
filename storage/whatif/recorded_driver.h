// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A driver that does in a model what the driver did in a recording.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "storage/whatif/driver.h"
#include "storage/whatif/recorded_moves.h"

namespace tidemark {

/// Gives what the recorded driver gave, refuses where it refused, and notes where the calls differ. The order in which
/// segments are returned is not compared.
class RecordedDriver : public Driver {
public:
    explicit RecordedDriver(const std::vector<DriverMove>& moves) : moves_(moves) {}

    std::optional<uint64_t> allocate(uint64_t size, const SegmentOwner& owner) override;
    void free(uint64_t address, uint64_t size) override { go_back(address, size); }
    uint64_t reserve_addresses(uint64_t size, const SegmentOwner& owner) override;
    bool map(uint64_t address, uint64_t size) override;
    void unmap(uint64_t address, uint64_t size) override { go_back(address, size); }

    /// This recorded move is to happen next, after those that are expected already.
    void expect(size_t move);
    bool expects_arrival() const;
    bool expects_return() const;
    bool expects_expandable() const;
    /// What is still expected did not happen in the model.
    void finish();

    const std::string& difference() const { return difference_; }
    /// Segments that the model returned and that stayed in the recording.
    const std::vector<uint64_t>& stayed() const { return stayed_; }

private:
    bool next_arrives(bool expandable) const;
    void go_back(uint64_t address, uint64_t size);
    void differ(std::string text);

    const std::vector<DriverMove>& moves_;
    std::deque<const DriverMove*> due_;
    size_t first_due_ = 0;
    std::string difference_;
    std::vector<uint64_t> stayed_;
};

/// "20.0 MiB at 0x7f12a4000000"
std::string describe_memory(uint64_t address, uint64_t size);

}  // namespace tidemark
