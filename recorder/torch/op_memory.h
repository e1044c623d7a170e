// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The memory that the current op of a thread allocated and has not freed. Memory that is neither a result nor saved by
// the graph when the op ends is the op's workspace.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "recorder/torch/learned_ops.h"

namespace tidemark::plugin {

struct DeviceAddress {
    uint64_t address = 0;
    uint8_t device = 0;
    bool operator==(const DeviceAddress& other) const { return address == other.address && device == other.device; }
};

/// Belongs to one thread. Allocates no host memory, since it is used under the allocator's lock. Ignores pieces beyond
/// its capacity.
class OpMemory {
public:
    struct Piece {
        DeviceAddress memory;
        PlaceKeys place;        ///< of its allocation
        uint32_t returned = 0;  ///< its place among what inner ops have returned, from 1; 0: none did, or nobody looked
    };

    void clear() {
        count_ = 0;
        returned_ = 0;
    }
    void allocated(const Piece& piece) {
        if (count_ < pieces_.size()) {
            pieces_[count_++] = piece;
        }
    }
    void freed(const DeviceAddress& memory) { claim(memory); }
    /// Removes a piece. Returns where it was allocated; nothing if the op did not allocate it.
    std::optional<PlaceKeys> claim(const DeviceAddress& memory) {
        for (size_t i = count_; i-- > 0;) {
            if (pieces_[i].memory == memory) {
                const PlaceKeys place = pieces_[i].place;
                pieces_[i] = pieces_[--count_];
                return place;
            }
        }
        return std::nullopt;
    }
    /// Notes that an inner op returned a tensor with this memory.
    void returned(const DeviceAddress& memory) {
        for (size_t i = 0; i < count_; ++i) {
            if (pieces_[i].memory == memory) {
                pieces_[i].returned = ++returned_;
            }
        }
    }
    /// Removes the piece that was returned before exactly `later` other ones, and returns it.
    std::optional<Piece> claim_returned(size_t later) {
        for (size_t i = 0; i < count_; ++i) {
            const Piece piece = pieces_[i];
            const auto is_later = [&](const Piece& other) { return other.returned > piece.returned; };
            if (piece.returned > 0 && static_cast<size_t>(std::count_if(begin(), end(), is_later)) == later) {
                pieces_[i] = pieces_[--count_];
                return piece;
            }
        }
        return std::nullopt;
    }
    bool empty() const { return count_ == 0; }
    const Piece* begin() const { return pieces_.data(); }
    const Piece* end() const { return pieces_.data() + count_; }

private:
    std::array<Piece, 64> pieces_;
    size_t count_ = 0;
    uint32_t returned_ = 0;
};

}  // namespace tidemark::plugin
