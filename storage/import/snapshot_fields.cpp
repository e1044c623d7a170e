// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reads the fields of a snapshot's dicts.
#include <algorithm>

#include "storage/base/utf8.h"
#include "storage/import/pickle_text.h"
#include "storage/import/snapshot_builder.h"

namespace tidemark {
namespace {

constexpr uint64_t size_limit = uint64_t{1} << 60;
constexpr size_t stream_limit = 65'535;
constexpr size_t unknown_action_limit = 255;

}  // namespace

bool SnapshotBuilder::to_size(PickleValue value, uint64_t& size) const {
    if (value.kind != PickleKind::integer || static_cast<uint64_t>(value.integer) > size_limit) {
        return false;
    }
    size = static_cast<uint64_t>(value.integer);
    return true;
}

bool SnapshotBuilder::to_address(PickleValue value, uint64_t& address) const {
    if (value.kind != PickleKind::large_unsigned && (value.kind != PickleKind::integer || value.integer < 0)) {
        return false;
    }
    address = value.large_unsigned;
    return true;
}

bool SnapshotBuilder::to_integer(PickleValue value, int64_t& number) const {
    if (value.kind != PickleKind::integer) {
        return false;
    }
    number = value.integer;
    return true;
}

bool SnapshotBuilder::to_device(PickleValue value, int& device) const {
    const bool good = value.kind == PickleKind::integer && value.integer >= 0 && value.integer < max_devices;
    device = good ? static_cast<int>(value.integer) : 0;
    return good;
}

bool SnapshotBuilder::to_flag(PickleValue value, bool& flag) const {
    if (value.kind != PickleKind::boolean && value.kind != PickleKind::integer) {
        return false;
    }
    flag = value.integer != 0;
    return true;
}

bool SnapshotBuilder::to_stack(PickleValue value, StackId& stack) const {
    const Object* frames = object(value);
    stack = frames && frames->kind == Kind::stack ? frames->payload : 0;
    return stack != 0 || value.kind == PickleKind::none || (frames && frames->kind == Kind::stack) ||
           is_empty_container(value);
}

bool SnapshotBuilder::to_state(PickleValue value, BlockState& state) const {
    switch (value.kind == PickleKind::text ? value.text : word::empty) {
        case word::active_allocated: state = BlockState::allocated; return true;
        case word::active_pending_free:
        case word::active_awaiting_free: state = BlockState::pending_free; return true;
        case word::inactive: state = BlockState::inactive; return true;
        default: return false;
    }
}

bool SnapshotBuilder::to_action(PickleValue value, SnapshotEvent& event) {
    if (value.kind != PickleKind::text) {
        return false;
    }
    for (const SeenAction& seen : actions_) {
        if (seen.text == value.text) {
            event.action = seen.action;
            event.unknown_action = seen.unknown_action;
            return true;
        }
    }
    SeenAction seen{value.text, action_from_name(texts_[value.text])};
    auto& unknown = snapshot_.unknown_actions;
    if (seen.action == Action::unknown) {
        if (unknown.size() <= unknown_action_limit) {
            unknown.push_back(unknown.size() < unknown_action_limit ? valid_utf8(texts_[value.text]) : "(others)");
        }
        seen.unknown_action = static_cast<uint8_t>(unknown.size() - 1);
    }
    event.action = seen.action;
    event.unknown_action = seen.unknown_action;
    if (unknown.size() <= unknown_action_limit) {
        actions_.push_back(seen);
    }
    return true;
}

bool SnapshotBuilder::to_stream(PickleValue value, uint16_t& stream) {
    uint64_t handle = 0;
    if (!to_address(value, handle)) {
        return false;
    }
    if (handle != last_stream_ || snapshot_.streams.empty()) {
        const auto [entry, added] = stream_ids_.try_emplace(handle, static_cast<uint16_t>(snapshot_.streams.size()));
        if (added && snapshot_.streams.size() > stream_limit) {
            stream_ids_.erase(entry);
            return false;
        }
        if (added) {
            snapshot_.streams.push_back(handle);
        }
        last_stream_ = handle;
        last_stream_id_ = entry->second;
    }
    stream = last_stream_id_;
    return true;
}

/// A tuple of two integers. Tools that pass a snapshot through JSON make a list of it.
std::optional<PoolKey> SnapshotBuilder::pool_key(PickleValue value) const {
    const Object* pair = object(value);
    if (pair && pair->kind == Kind::pair) {
        return pairs_[pair->payload];
    }
    if (!pair || pair->kind != Kind::list || items(*pair).size() != 2) {
        return {};
    }
    PoolKey key;
    const auto both = items(*pair);
    return to_integer(both[0], key[0]) && to_integer(both[1], key[1]) ? std::optional(key) : std::nullopt;
}

bool SnapshotBuilder::to_pool(PickleValue value, uint32_t& pool) {
    const auto key = pool_key(value);
    if (!key) {
        return value.kind == PickleKind::none;
    }
    const auto [entry, added] = pool_ids_.try_emplace(*key, static_cast<uint32_t>(snapshot_.pools.size()));
    if (added) {
        snapshot_.pools.push_back(entry->first);
    }
    pool = entry->second;
    return true;
}

StringId SnapshotBuilder::string_id(TextId text) {
    if (text >= string_ids_.size()) {
        string_ids_.resize(std::max<size_t>(texts_.size(), 64), none);
    }
    if (string_ids_[text] == none) {
        string_ids_[text] = snapshot_.stacks.intern(valid_utf8(texts_[text]));
    }
    return string_ids_[text];
}

/// PyTorch writes the line -1 of generated code as an unsigned number: it has no line.
bool SnapshotBuilder::to_line(PickleValue value, int32_t& line) const {
    line =
        value.kind == PickleKind::integer ? static_cast<int32_t>(std::clamp<int64_t>(value.integer, 0, INT32_MAX)) : 0;
    return value.kind == PickleKind::integer || value.kind == PickleKind::none ||
           (value.kind == PickleKind::large_unsigned && static_cast<int64_t>(value.large_unsigned) == -1);
}

/// PyTorch writes "N/A" for an unknown compile context.
bool SnapshotBuilder::to_string_id(PickleValue value, StringId& id) {
    const bool text = value.kind == PickleKind::text;
    id = text && value.text != word::not_available ? string_id(value.text) : 0;
    return text || value.kind == PickleKind::none;
}

/// Metadata is a text, or a dict since torch 2.13. Many events may share a dict, so its JSON text is created once.
bool SnapshotBuilder::to_metadata(PickleValue value, StringId& id) {
    if (value.kind == PickleKind::text) {
        id = string_id(value.text);
        return true;
    }
    if (value.kind == PickleKind::none || is_empty_container(value)) {
        id = 0;
        return true;
    }
    const bool shared = value.kind == PickleKind::object;
    if (const auto known = metadata_ids_.find(value.object); shared && known != metadata_ids_.end()) {
        id = known->second;
        return true;
    }
    const std::string json = json_of(value);
    if (json.size() > json_budget_) {
        return false;
    }
    json_budget_ -= json.size();
    id = snapshot_.stacks.intern(json);
    if (shared) {
        metadata_ids_.emplace(value.object, id);
    }
    return true;
}

uint32_t SnapshotBuilder::context_index(const SnapshotContext& context) {
    const uint64_t key = (uint64_t{context.compile_context} << 32) | context.user_metadata;
    if (key == last_context_) {
        return last_context_id_;
    }
    const auto [entry, added] = context_ids_.try_emplace(key, static_cast<uint32_t>(snapshot_.contexts.size()));
    if (added) {
        snapshot_.contexts.push_back(context);
    }
    last_context_ = key;
    last_context_id_ = entry->second;
    return last_context_id_;
}

}  // namespace tidemark
