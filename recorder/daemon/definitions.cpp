// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/definitions.h"

#include <algorithm>
#include <utility>

namespace tidemark::recorder {

namespace {

/// Ids are consecutive, but definitions may have been dropped. An id this far ahead of the others is damaged.
constexpr size_t longest_jump = 1 << 16;

template <class Row>
void put(std::vector<Row>& rows, uint32_t id, Row row) {
    if (id == 0 || id >= rows.size() + longest_jump) {
        return;
    }
    if (id >= rows.size()) {
        rows.resize(id + 1);
    }
    rows[id] = std::move(row);
}

std::vector<tidemark_frame> frames_of(std::span<const std::byte> payload) {
    std::vector<tidemark_frame> frames(payload.size() / sizeof(tidemark_frame));
    const auto bytes = std::as_writable_bytes(std::span(frames));
    std::copy_n(payload.begin(), bytes.size(), bytes.begin());
    return frames;
}

}  // namespace

std::string_view text_of(std::span<const std::byte> payload) {
    return {reinterpret_cast<const char*>(payload.data()), payload.size()};
}

void ThreadDefinitions::define(const tidemark_record& record, std::span<const std::byte> payload) {
    const auto& define = record.define;
    switch (record.kind) {
        case TIDEMARK_TEXT: put(texts_, define.id, writer_.stacks().intern(text_of(payload))); break;
        case TIDEMARK_STACK:
            if ((define.id & TIDEMARK_NATIVE_STACK) != 0) {
                define_native_stack(define.id & ~TIDEMARK_NATIVE_STACK, payload);
            } else {
                define_stack(define.id, payload);
            }
            break;
        case TIDEMARK_OP: define_op(record); break;
        case TIDEMARK_POOL: put(pools_, define.id, writer_.pool(define.owner[0], define.owner[1])); break;
        default: break;
    }
}

void ThreadDefinitions::define_stack(uint32_t id, std::span<const std::byte> payload) {
    StackTable& table = writer_.stacks();
    std::vector<FrameId> frames;
    std::vector<uint64_t> modules;
    for (const tidemark_frame& frame : frames_of(payload)) {
        frames.push_back(table.intern(Frame{text(frame.function), text(frame.file), static_cast<int32_t>(frame.line)}));
        if (frame.module != 0 && (modules.empty() || modules.back() != frame.module)) {
            modules.push_back(frame.module);
        }
    }
    put<std::optional<Stack>>(stacks_, id, Stack{table.intern_stack(frames), origins_.chain(modules)});
}

void ThreadDefinitions::define_native_stack(uint32_t id, std::span<const std::byte> payload) {
    StackTable& table = writer_.stacks();
    std::vector<NativeFrame> named;
    for (const tidemark_frame& frame : frames_of(payload)) {
        const std::vector<NativeFrame>& found = symbols_.at(table.string(text(frame.file)), frame.module);
        named.insert(named.end(), found.begin(), found.end());
    }
    leave_out_runtime(named);
    std::vector<FrameId> frames;
    frames.reserve(named.size());
    for (const NativeFrame& frame : named) {
        frames.push_back(table.intern(Frame{table.intern(frame.function), table.intern(frame.file), frame.line}));
    }
    put<std::optional<Stack>>(native_stacks_, id, Stack{table.intern_stack(frames), 0});
}

void ThreadDefinitions::define_op(const tidemark_record& record) {
    constexpr std::string_view engine = "autograd::engine::evaluate_function: ";
    StackTable& table = writer_.stacks();
    const uint32_t parent = record.define.parent;
    Op op = parent < ops_.size() ? ops_[parent] : Op();
    const StringId name = text(record.define.text);
    const bool by_engine = table.string(name).starts_with(engine);
    if (record.detail == TIDEMARK_SCOPE_NODE || (record.detail == TIDEMARK_SCOPE_OP && by_engine)) {
        op.node = by_engine ? table.intern(std::string(table.string(name).substr(engine.size()))) : name;
        op.below = 0;
        op.shown = op.node;
    } else if (record.detail == TIDEMARK_SCOPE_OP && op.below == 0) {
        op.below = name;
        op.shown = op.node == 0 ? name : table.intern(table.string(op.node) + " > " + table.string(name));
    }
    put(ops_, record.define.id, op);
}

std::optional<ThreadDefinitions::Stack> ThreadDefinitions::stack(uint32_t id) const {
    if (id == 0) {
        return Stack();
    }
    const auto& stacks = (id & TIDEMARK_NATIVE_STACK) != 0 ? native_stacks_ : stacks_;
    const uint32_t number = id & ~TIDEMARK_NATIVE_STACK;
    return number < stacks.size() ? stacks[number] : std::nullopt;
}

uint32_t ThreadDefinitions::pool(uint32_t id) const {
    return id != 0 && id < pools_.size() ? pools_[id] : writer_.pool(0, 0);
}

Definitions::Definitions(StreamingWriter& writer, Origins& origins) : writer_(writer), origins_(origins) {
    std::fill(phases_.begin(), phases_.begin() + TIDEMARK_PHASE_FIRST_NAMED, StringId{0});
    for (const auto& [number, phase] :
         {std::pair(TIDEMARK_PHASE_FORWARD, Phase::forward), std::pair(TIDEMARK_PHASE_BACKWARD, Phase::backward),
          std::pair(TIDEMARK_PHASE_OPTIMIZER, Phase::optimizer), std::pair(TIDEMARK_PHASE_EVAL, Phase::eval)}) {
        name_phase(number, word_of(phase));
    }
}

ThreadDefinitions& Definitions::thread(uint16_t serial, int64_t native_thread) {
    if (const auto found = by_serial_.find(serial); serial != 0 && found != by_serial_.end()) {
        return *found->second;
    }
    threads_.push_back(
        std::make_unique<ThreadDefinitions>(native_thread, ThreadDefinitions::Shared{writer_, origins_, symbols_}));
    by_serial_[serial] = threads_.back().get();
    return *threads_.back();
}

const ThreadDefinitions* Definitions::find(uint16_t serial) const {
    const auto found = by_serial_.find(serial);
    return found == by_serial_.end() ? nullptr : found->second;
}

void Definitions::name_phase(uint32_t number, std::string_view name) {
    if (number < phases_.size()) {
        phases_[number] = writer_.stacks().intern(name);
    }
}

}  // namespace tidemark::recorder
