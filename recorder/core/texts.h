// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The texts that one thread has defined. Each is sent once; later records use its id. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::recorder {

class Texts {
public:
    /// Returns the id of a defined text, or 0.
    uint32_t find(std::string_view text) const;
    /// Returns the id of the next new text.
    uint32_t next() const { return static_cast<uint32_t>(texts_.size()) + 1; }
    void add(std::string_view text);

private:
    size_t slot_of(std::string_view text) const;
    void grow();

    std::vector<std::string> texts_;
    std::vector<uint32_t> slots_;  ///< open addressing: numbers of texts, 0 where free; a power of two long
};

}  // namespace tidemark::recorder
