// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/format/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

namespace tidemark {

struct Hash::State {
    XXH3_state_t xxh3;
};

Hash::Hash() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->xxh3); }
Hash::~Hash() = default;

void Hash::add(const void* bytes, size_t size) { XXH3_128bits_update(&state_->xxh3, bytes, size); }

std::array<unsigned char, 16> Hash::digest() const {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state_->xxh3));
    std::array<unsigned char, sizeof canonical.digest> bytes;
    std::memcpy(bytes.data(), canonical.digest, bytes.size());
    return bytes;
}

}  // namespace tidemark
