// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// XXH3 with 128 bits, over bytes that arrive in pieces. Detects damage; does not resist intent.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

namespace tidemark {

/// Not thread-safe.
class Hash {
public:
    Hash();
    ~Hash();
    void add(const void* bytes, size_t size);
    /// The hash of everything added so far, the same on every machine.
    std::array<unsigned char, 16> digest() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace tidemark
