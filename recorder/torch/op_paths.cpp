// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/op_paths.h"

#include <functional>
#include <string_view>

namespace tidemark::plugin {

OpKind kind_of(const char* name, uint8_t scope) {
    constexpr char evaluation_prefix[] = "autograd::engine::evaluate_function";
    if (scope != TIDEMARK_SCOPE_OP) {
        return {};
    }
    const bool is_evaluation = std::strncmp(name, evaluation_prefix, sizeof evaluation_prefix - 1) == 0;
    return {is_evaluation, !is_evaluation && std::strstr(name, "::") != nullptr};
}

size_t OpPaths::slot_of(uint32_t parent, const char* name) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = (std::hash<std::string_view>{}(name) ^ (size_t{parent} * 0x9e3779b97f4a7c15u)) & mask;
    while (slots_[slot] != 0 && (parents_[slots_[slot] - 1] != parent || names_[slots_[slot] - 1] != name)) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

uint32_t OpPaths::find_or_report(const tidemark_api& api, tidemark_ring* ring, uint32_t parent, const char* name,
                                 uint8_t scope) {
    if ((names_.size() + 1) * 2 > slots_.size()) {
        grow();
    }
    const size_t slot = slot_of(parent, name);
    if (slots_[slot] != 0 || names_.size() >= most_paths) {
        return slots_[slot];
    }
    tidemark_record record{};
    record.kind = TIDEMARK_OP;
    record.detail = scope;
    record.define.id = static_cast<uint32_t>(names_.size() + 1);
    record.define.parent = parent;
    record.define.text = api.text(ring, name, std::strlen(name));
    if (api.push(ring, &record, nullptr, 0) == 0) {
        return 0;
    }
    names_.emplace_back(name);
    parents_.push_back(parent);
    slots_[slot] = record.define.id;
    return record.define.id;
}

void OpPaths::grow() {
    slots_.assign(slots_.empty() ? 1024 : slots_.size() * 2, 0);
    for (uint32_t id = 1; id <= names_.size(); ++id) {
        slots_[slot_of(parents_[id - 1], names_[id - 1].c_str())] = id;
    }
}

}  // namespace tidemark::plugin
