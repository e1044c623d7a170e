// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The distinct texts of one pickle, numbered in order of first use.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace tidemark {

using TextId = uint32_t;

/// Single-threaded. Views are valid as long as the pool exists.
class TextPool {
public:
    TextPool();
    TextId intern(std::string_view text);
    std::string_view operator[](TextId id) const { return texts_[id]; }
    size_t size() const { return texts_.size(); }
    uint64_t memory() const { return stored_ + 64 * texts_.size(); }  ///< bytes, roughly

private:
    uint64_t hash(std::string_view text) const;
    void grow();
    std::string_view store(std::string_view text);

    struct Slot {
        uint32_t hash = 0;
        TextId id = empty_slot;
    };
    static constexpr TextId empty_slot = UINT32_MAX;

    uint64_t seed_;
    std::vector<std::string_view> texts_;
    std::vector<Slot> slots_;  ///< open addressing, a power of two, at most half full
    std::vector<std::unique_ptr<char[]>> chunks_;
    char* free_ = nullptr;
    size_t free_size_ = 0;
    uint64_t stored_ = 0;
};

}  // namespace tidemark
