// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/snapshot_builder.h"

#include <algorithm>
#include <cstdlib>

#include "storage/base/utf8.h"
#include "storage/import/pickle_text.h"

namespace tidemark {
namespace {

constexpr uint8_t depth_limit = 64;
constexpr size_t frame_limit = 65'536;
constexpr size_t json_total_limit = size_t{256} << 20;

Error changed_after_use() {
    return input_error("The pickle changes a container after using it elsewhere, which no snapshot needs.");
}

}  // namespace

SnapshotBuilder::SnapshotBuilder(TextPool& texts) : texts_(texts), json_budget_(json_total_limit) {
    word::add_words(texts_);
}

// Containers.

Result<PickleValue> SnapshotBuilder::make_dict() { return make(Kind::dict, none); }
Result<PickleValue> SnapshotBuilder::make_list() { return make(Kind::list, none); }

Result<PickleValue> SnapshotBuilder::make_tuple(std::span<const PickleValue> tuple) {
    if (tuple.size() == 2 && tuple[0].kind == PickleKind::integer && tuple[1].kind == PickleKind::integer) {
        const PoolKey key{tuple[0].integer, tuple[1].integer};
        const auto [entry, added] = pair_ids_.try_emplace(key, static_cast<uint32_t>(pairs_.size()));
        if (added) {
            pairs_.push_back(key);
        }
        return make(Kind::pair, entry->second);
    }
    auto made = make(Kind::list, none);
    if (made && !tuple.empty()) {
        TIDEMARK_TRY(append(*made, tuple));
    }
    return made;
}

Result<PickleValue> SnapshotBuilder::make(Kind kind, uint32_t payload) {
    if (objects_.size() == none) {
        return input_error("The pickle holds more than four billion containers.");
    }
    objects_.push_back(Object{.kind = kind, .payload = payload});
    return PickleValue::of_object(static_cast<uint32_t>(objects_.size() - 1));
}

SnapshotBuilder::Object* SnapshotBuilder::object(PickleValue value) {
    return value.kind == PickleKind::object ? &objects_[value.object] : nullptr;
}

const SnapshotBuilder::Object* SnapshotBuilder::object(PickleValue value) const {
    return value.kind == PickleKind::object ? &objects_[value.object] : nullptr;
}

SnapshotBuilder::Pairs SnapshotBuilder::pairs(const Object& dict) const {
    return dict.payload == none ? Pairs{} : Pairs(dicts_[dict.payload]);
}

std::span<const PickleValue> SnapshotBuilder::items(const Object& list) const {
    return list.payload == none ? std::span<const PickleValue>{} : std::span<const PickleValue>(lists_[list.payload]);
}

/// If a key occurs more than once, the last value is used, as in Python.
std::optional<PickleValue> SnapshotBuilder::find(Pairs pairs, TextId key) const {
    for (size_t i = pairs.size(); i >= 2; i -= 2) {
        if (pairs[i - 2].kind == PickleKind::text && pairs[i - 2].text == key) {
            return pairs[i - 1];
        }
    }
    return {};
}

Status SnapshotBuilder::set_items(PickleValue target, Pairs added) {
    Object* dict = object(target);
    if (!dict || (dict->kind != Kind::dict && dict->kind != Kind::event)) {
        return input_error("The pickle sets an item of something that is not a dict.");
    }
    if (dict->frozen) {
        return changed_after_use();
    }
    for (const PickleValue value : added) {
        if (value.kind == PickleKind::object) {
            TIDEMARK_TRY(nest(*dict, objects_[value.object]));
        }
    }
    if (dict->kind == Kind::event) {
        return fold_event(events_[dict->payload], added);
    }
    const word::WordSet keys = keys_of(added);
    if (dict->payload == none && keys.has(word::action) && (keys.has(word::addr) || keys.has(word::device_free))) {
        return begin_event(*dict, added);
    }
    if (dict->payload == none) {
        dict->payload = dicts_.take();
    }
    auto& pairs = dicts_[dict->payload];
    pairs.insert(pairs.end(), added.begin(), added.end());
    plain_items_ += added.size();
    return {};
}

Status SnapshotBuilder::append(PickleValue target, std::span<const PickleValue> added) {
    Object* list = object(target);
    if (!list || (list->kind != Kind::list && list->kind != Kind::frame_list && list->kind != Kind::record_list)) {
        return input_error("The pickle appends to something that is not a list.");
    }
    if (list->frozen) {
        return changed_after_use();
    }
    for (const PickleValue item : added) {
        const Object* inner = object(item);
        if (inner && inner->kind == Kind::frame && list->kind == Kind::frame_list) [[likely]] {
            frame_lists_[list->payload].push_back(inner->payload);
            ++plain_items_;
            continue;
        }
        TIDEMARK_TRY(append_item(*list, item));
    }
    if (list->kind == Kind::frame_list && frame_lists_[list->payload].size() > frame_limit) {
        return input_error("A stack has more than {limit} frames.", with("limit", frame_limit));
    }
    return {};
}

Status SnapshotBuilder::append_item(Object& list, PickleValue item) {
    Object* inner = object(item);
    if (inner && inner->kind == Kind::dict && !inner->frozen) {
        TIDEMARK_TRY(fold_dict(*inner));
    }
    if (inner) {
        TIDEMARK_TRY(nest(list, *inner));
    }
    if (inner && is_record(inner->kind)) {
        return append_record(list, *inner);
    }
    if (inner && inner->kind == Kind::frame && list.kind == Kind::list && list.payload == none) {
        list.kind = Kind::frame_list;
        list.payload = frame_lists_.take();
    }
    if (list.kind == Kind::frame_list && inner && inner->kind == Kind::frame) {
        frame_lists_[list.payload].push_back(inner->payload);
        ++plain_items_;
    } else {
        append_plain(list, item);
    }
    return {};
}

/// Appends anything that is no frame or record, or leaves it out of a list of such.
void SnapshotBuilder::append_plain(Object& list, PickleValue item) {
    if (list.kind != Kind::list) {
        const Record record = list.kind == Kind::frame_list ? Record::frame : record_of(list_kind(list));
        note_damage(record, word::empty);
        return;
    }
    if (list.payload == none) {
        list.payload = lists_.take();
    }
    lists_[list.payload].push_back(item);
    ++plain_items_;
}

Status SnapshotBuilder::append_record(Object& list, Object& record) {
    if (list.kind == Kind::list && list.payload == none) {
        list.kind = Kind::record_list;
        list.payload = record_lists_.take();
    }
    if (record.taken) {
        return input_error("The pickle uses one event, block or segment twice; every one of them happened once.");
    }
    record.taken = true;
    if (record.kind == Kind::event) {
        const Action action = events_[record.payload].action;
        never_freed_ += (action == Action::alloc) - (action == Action::free_completed);
    }
    if (list.kind != Kind::record_list || (!record_lists_[list.payload].empty() && list_kind(list) != record.kind)) {
        note_damage(record_of(record.kind), word::empty);
        return {};
    }
    auto& runs = record_lists_[list.payload];
    if (!runs.empty() && runs.back().first + runs.back().count == record.payload) {
        ++runs.back().count;
    } else {
        runs.push_back({record.kind, record.payload, 1});
    }
    return {};
}

SnapshotBuilder::Kind SnapshotBuilder::list_kind(const Object& record_list) const {
    return record_lists_[record_list.payload].front().kind;
}

SnapshotBuilder::Record SnapshotBuilder::record_of(Kind kind) {
    return kind == Kind::event     ? Record::event
           : kind == Kind::block   ? Record::block
           : kind == Kind::segment ? Record::segment
                                   : Record::annotation;
}

/// Puts `inner` into `outer`. Neither can change afterwards.
Status SnapshotBuilder::nest(Object& outer, Object& inner) {
    if (&inner == &outer) {
        return input_error("The pickle puts a container into itself.");
    }
    if (!inner.frozen) {
        freeze(inner);
    }
    if (inner.depth >= depth_limit) {
        return input_error("The pickle nests containers more than {limit} levels deep.", with("limit", depth_limit));
    }
    outer.depth = std::max<uint8_t>(outer.depth, static_cast<uint8_t>(inner.depth + 1));
    return {};
}

/// The factors were measured over whole imports, which end with a written trace.
uint64_t SnapshotBuilder::memory() const {
    constexpr uint64_t event = 64, live_allocation = 250, block = 130, segment = 300, frame = 150, stack = 80,
                       list = 64;
    const StackTable& stacks = snapshot_.stacks;
    const uint64_t lists = dicts_.size() + lists_.size() + frame_lists_.size() + record_lists_.size();
    return objects_.size() * sizeof(Object) + lists * list + plain_items_ * sizeof(PickleValue) +
           events_.size() * event + static_cast<uint64_t>(std::abs(never_freed_)) * live_allocation +
           blocks_seen_ * block + snapshot_.segments.size() * segment + snapshot_.annotations.size() * segment +
           stacks.frame_count() * frame + stacks.stack_count() * stack;
}

void SnapshotBuilder::freeze(Object& object) {
    object.frozen = true;
    if (object.kind == Kind::frame_list) {
        const uint32_t list = object.payload;
        become(object, Kind::stack, stack_cache_.intern(snapshot_.stacks, frame_lists_[list]));
        plain_items_ -= frame_lists_[list].size();
        frame_lists_.release(list);
    }
}

}  // namespace tidemark
