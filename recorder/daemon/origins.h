// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The attribution of events besides the stack: thread, op, module, phase, compile context, metadata. Each combination
// is one row.
//
// A module's address is known before its name. A row is written at once; its module is added when the name arrives.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "storage/write/streaming_writer.h"

namespace tidemark::recorder {

/// The id of a list of modules whose calls are on a stack, innermost first. 0: none.
using ModuleChain = uint32_t;

struct OriginKey {
    int64_t thread = 0;
    StringId op = 0, phase = 0, compile_context = 0, user_metadata = 0;
    ModuleChain modules = 0;
    bool operator==(const OriginKey&) const = default;
};

class Origins {
public:
    explicit Origins(StreamingWriter& writer) : writer_(writer), chains_(1) {}

    /// Returns the id of a list of modules.
    ModuleChain chain(const std::vector<uint64_t>& innermost_first);
    /// Names a module. A later name of the same address applies to later events.
    void name_module(uint64_t address, StringId name);
    /// Returns the row id; 0 for an empty key.
    uint32_t origin(const OriginKey& key);

private:
    struct Hash {
        size_t operator()(const OriginKey& key) const;
    };
    struct Unnamed {
        uint32_t id;
        OriginRow row;
        std::vector<uint64_t> modules;  ///< those inside the module that the row names now; their names are more exact
    };

    void forget_origins_in(uint64_t module);
    void fill_in(uint64_t module, StringId name);

    StreamingWriter& writer_;
    std::vector<std::vector<uint64_t>> chains_;
    std::map<std::vector<uint64_t>, ModuleChain> chain_ids_;
    std::unordered_map<uint64_t, StringId> names_;
    std::unordered_map<OriginKey, uint32_t, Hash> ids_;
    std::vector<Unnamed> unnamed_;
};

}  // namespace tidemark::recorder
