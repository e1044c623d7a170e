// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Streaming gzip, xz and zstd decompression with bounded memory, behind one interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "storage/base/result.h"

namespace tidemark {

/// Decompresses one gzip member, xz stream or zstd frame.
class Unpacker {
public:
    struct Step {
        size_t taken = 0;    ///< bytes of the input that were read
        size_t filled = 0;   ///< bytes of the output that were written
        bool ended = false;  ///< the member is complete
    };

    virtual ~Unpacker() = default;
    virtual const char* name() const = 0;
    /// Fails on corrupt content, and if decompression needs unreasonably much memory. If nothing was taken or filled
    /// and the member has not ended, more input is needed.
    virtual Result<Step> step(std::span<const uint8_t> input, std::span<uint8_t> output) = 0;
};

/// Length of the longest magic number, in bytes.
constexpr size_t longest_packing_magic = 6;

/// Selects the unpacker by magic number; nullptr if `head` is no known compression.
std::unique_ptr<Unpacker> make_unpacker(std::span<const uint8_t> head);

}  // namespace tidemark
