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

/// What the name of an op tells.
struct OpKind {
    bool is_evaluation = false;  ///< the engine's op around a node and the sums of its gradients
    bool is_dispatched = false;  ///< called by PyTorch's dispatcher
};
OpKind kind_of(const char* name, uint8_t scope);

class OpPaths {
public:
    struct Path {
        uint32_t id = 0;  ///< 0: it cannot be defined
        OpKind kind;
    };

    /// Returns the path of `name` under `parent` and defines it if it is new.
    Path child(const tidemark_api& api, tidemark_ring* ring, uint32_t parent, const char* name, uint8_t scope) {
        Recent& recent = recent_[slot(parent, name)];
        if (recent.parent == parent && recent.name == name && recent.path.id != 0 &&
            names_[recent.path.id - 1] == name) {
            return recent.path;
        }
        recent = {name, parent, {find_or_report(api, ring, parent, name, scope), kind_of(name, scope)}};
        return recent.path;
    }

private:
    /// The name's address is only a hint: the string may be temporary, so the text is compared as well.
    struct Recent {
        const char* name = nullptr;
        uint32_t parent = 0;
        Path path;
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
