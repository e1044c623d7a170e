// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Chunks of allocations with other content and a valid checksum, which random bytes never have.
#pragma once

#include <string>

#include "tests/hostile/database.h"
#include "tests/hostile/dice.h"

namespace tidemark::hostile {

/// Changes a column of a chunk, or its bytes. Returns what was done; empty without chunks.
std::string forge_chunk(const Database& database, Dice& dice);
/// Lets two chunks have the same allocations.
std::string overlap_chunks(const Database& database, Dice& dice);

/// Changes values in the raw columns of a chunk (see storage/format/chunk_codec.h) of `count` allocations.
void forge_columns(Bytes& raw, size_t count, Dice& dice);

}  // namespace tidemark::hostile
