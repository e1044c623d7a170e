// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The definitions of the program's threads: texts, stacks, ops and pools. Each kind has its own ids.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "recorder/core/records.h"
#include "recorder/daemon/native_symbols.h"
#include "recorder/daemon/origins.h"
#include "storage/trace/limits.h"
#include "storage/write/streaming_writer.h"

namespace tidemark::recorder {

/// Returns a payload's bytes as text.
std::string_view text_of(std::span<const std::byte> payload);

/// The definitions of one thread. Ids that were never defined map to 0.
class ThreadDefinitions {
public:
    struct Stack {
        StackId stack = 0;
        ModuleChain modules = 0;
    };

    /// Definitions that all threads share.
    struct Shared {
        StreamingWriter& writer;
        Origins& origins;
        NativeSymbols& symbols;
    };
    ThreadDefinitions(int64_t native_thread, const Shared& shared)
        : native_thread_(native_thread), writer_(shared.writer), origins_(shared.origins), symbols_(shared.symbols) {}

    /// Stores a TEXT, STACK, OP or POOL record.
    void define(const tidemark_record& record, std::span<const std::byte> payload);

    int64_t native_thread() const { return native_thread_; }
    StringId text(uint32_t id) const { return id < texts_.size() ? texts_[id] : 0; }
    /// Returns nothing if the stack is not defined (yet).
    std::optional<Stack> stack(uint32_t id) const;
    /// Returns the name of an op with its node: "MeanBackward0 > aten::div", "aten::linear".
    StringId op(uint32_t id) const { return id < ops_.size() ? ops_[id].shown : 0; }
    /// Returns the pool's id in the trace; that of the default pool if `id` is unknown.
    uint32_t pool(uint32_t id) const;

private:
    struct Op {
        StringId node = 0;   ///< innermost autograd node around the op, or the op itself
        StringId below = 0;  ///< outermost op below that node; without a node, outermost op
        StringId shown = 0;
    };

    void define_native_stack(uint32_t id, std::span<const std::byte> payload);
    void define_stack(uint32_t id, std::span<const std::byte> payload);
    void define_op(const tidemark_record& record);

    const int64_t native_thread_;
    StreamingWriter& writer_;
    Origins& origins_;
    NativeSymbols& symbols_;
    std::vector<StringId> texts_;
    std::vector<std::optional<Stack>> stacks_, native_stacks_;
    std::vector<Op> ops_;
    std::vector<uint32_t> pools_;
};

/// The definitions of all threads. Definitions of ended threads stay, because other threads may still name their
/// stacks.
class Definitions {
public:
    Definitions(StreamingWriter& writer, Origins& origins);

    /// Returns the thread with this serial (0: other threads cannot name its stacks) and creates it if it is new.
    ThreadDefinitions& thread(uint16_t serial, int64_t native_thread);
    const ThreadDefinitions* find(uint16_t serial) const;

    /// Names a phase that the user reported. The name applies to all threads.
    void name_phase(uint32_t number, std::string_view name);
    /// Returns nothing if the phase has no name (yet).
    std::optional<StringId> phase(uint8_t number) const { return phases_[number]; }

private:
    StreamingWriter& writer_;
    Origins& origins_;
    NativeSymbols symbols_;
    std::vector<std::unique_ptr<ThreadDefinitions>> threads_;
    std::unordered_map<uint16_t, ThreadDefinitions*> by_serial_;
    std::array<std::optional<StringId>, 256> phases_;
};

}  // namespace tidemark::recorder
