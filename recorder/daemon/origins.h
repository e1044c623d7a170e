// Attribution beside the stack: thread, op, module, phase, compile context, metadata; each combination one row.
//
// Modules are known by address first and named later: a row is written at once and its module filled in when the
// name comes.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "storage/write/streaming_writer.h"

namespace tidemark::recorder {

/// The modules whose calls a stack is in, innermost first, as a number. 0: none.
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

    ModuleChain chain(const std::vector<uint64_t>& innermost_first);
    /// The latest name wins, for what happens from here on.
    void name_module(uint64_t address, StringId name);
    /// Row id; 0 when nothing is known.
    uint32_t origin(const OriginKey& key);

private:
    struct Hash {
        size_t operator()(const OriginKey& key) const;
    };
    struct Unnamed {
        uint32_t id;
        OriginRow row;
        std::vector<uint64_t> modules;  ///< those inside the one it is named after: they would be better
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
