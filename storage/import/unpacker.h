// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Streaming gzip, xz and zstd decompression with bounded memory behind one small interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "storage/base/result.h"

namespace tidemark {

/// Unpacks one gzip member, xz stream or zstd frame.
class Unpacker {
public:
    struct Step {
        size_t taken = 0;    ///< bytes of the input used up
        size_t filled = 0;   ///< bytes of the output written
        bool ended = false;  ///< the member is complete
    };

    virtual ~Unpacker() = default;
    virtual const char* name() const = 0;
    /// Fails on damaged content and where unpacking would need unreasonable memory. Neither taken nor filled nor
    /// ended means that it needs more input.
    virtual Result<Step> step(std::span<const uint8_t> input, std::span<uint8_t> output) = 0;
};

/// As many bytes as the longest magic number has.
constexpr size_t longest_packing_magic = 6;

/// Returns the unpacker by magic number; null where `head` begins no known compression.
std::unique_ptr<Unpacker> make_unpacker(std::span<const uint8_t> head);

}  // namespace tidemark
