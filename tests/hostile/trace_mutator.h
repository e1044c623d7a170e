// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Damages files on purpose. A function of the bytes and a seed: the same seed gives the same mutant in every run of one
// build.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tidemark::hostile {

using Bytes = std::vector<uint8_t>;

struct Mutant {
    Bytes bytes;
    std::string changes;  ///< for the report: "segment.alloc_time = 1000000000000000000; table step emptied"
};

/// Whether the mutant's checksums and its seal fit its changed content, as those of an attacker who has this program.
enum class Sealing : uint8_t { broken, renewed };

/// A mutant has at most `most` changes; with fewer, it has the first ones. So a failure is narrowed down.
constexpr uint64_t all_changes = UINT64_MAX;

/// Changes rows, tables, chunks and the schema of a trace. A file that is no SQLite database gets other bytes instead.
Mutant mutate_trace(std::span<const uint8_t> trace, uint64_t seed, Sealing sealing, uint64_t most = all_changes);

/// Changes single bits and bytes, spans, or the length of any file.
Mutant flip_bytes(std::span<const uint8_t> file, uint64_t seed, uint64_t most = all_changes);

/// Changes arguments and the order of the opcodes of a pickle.
Mutant mutate_pickle(std::span<const uint8_t> pickle, uint64_t seed, uint64_t most = all_changes);

}  // namespace tidemark::hostile
