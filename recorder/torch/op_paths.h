// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Ids of the paths of nested ops: "MulBackward0" under "evaluate_function: MulBackward0" has one id. Not thread-safe.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "recorder/core/core.h"

namespace tidemark::plugin {

class OpPaths {
public:
    /// Returns the id of `name` under `parent` and defines it if it is new; 0 if it cannot be defined.
    uint32_t child(const tidemark_api& api, tidemark_ring* ring, uint32_t parent, const char* name, uint8_t scope) {
        Recent& recent = recent_[slot(parent, name)];
        if (recent.parent == parent && recent.name == name && recent.id != 0 && names_[recent.id - 1] == name) {
            return recent.id;
        }
        const uint32_t id = find_or_report(api, ring, parent, name, scope);
        recent = {name, parent, id};
        return id;
    }

private:
    /// The name's address is only a hint: the string may be temporary, so the text is compared as well.
    struct Recent {
        const char* name = nullptr;
        uint32_t parent = 0;
        uint32_t id = 0;
    };
    static constexpr size_t recent_count = 2048;
    static constexpr size_t most_paths = size_t{1} << 20;

    static size_t slot(uint32_t parent, const char* name) {
        const auto address = reinterpret_cast<uintptr_t>(name);
        return ((address >> 3) ^ (address >> 14) ^ (size_t{parent} * 0x9e3779b1u)) % recent_count;
    }

    uint32_t find_or_report(const tidemark_api& api, tidemark_ring* ring, uint32_t parent, const char* name,
                            uint8_t scope);
    size_t slot_of(uint32_t parent, const char* name) const;
    void grow();

    std::vector<Recent> recent_ = std::vector<Recent>(recent_count);
    std::vector<std::string> names_;
    std::vector<uint32_t> parents_;
    std::vector<uint32_t> slots_;  ///< open addressing: ids, 0 where free; a power of two long
};

}  // namespace tidemark::plugin
