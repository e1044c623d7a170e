#include "storage/import/snapshot_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/base/utf8.h"
#include "storage/import/pickle_text.h"

namespace tidemark {
namespace {

constexpr uint8_t depth_limit = 64;
constexpr uint64_t size_limit = uint64_t{1} << 60;
constexpr size_t stream_limit = 65'535;
constexpr size_t unknown_action_limit = 255;
constexpr size_t frame_limit = 65'536;
constexpr size_t json_total_limit = size_t{256} << 20;

Error changed_after_use() {
    return input_error("The pickle changes a container after using it elsewhere, which no snapshot needs.");
}

/// Orders the blocks, makes sure that they lie in their segment side by side, and fills gaps as inactive.
Status fit_blocks(SnapshotSegment& segment) {
    if (segment.address > UINT64_MAX - segment.total_size) {
        return input_error("A segment ends beyond the address space.");
    }
    std::erase_if(segment.blocks, [](const SnapshotBlock& block) { return block.size == 0; });
    const auto by_address = [](const SnapshotBlock& a, const SnapshotBlock& b) { return a.address < b.address; };
    if (!std::is_sorted(segment.blocks.begin(), segment.blocks.end(), by_address)) {
        std::sort(segment.blocks.begin(), segment.blocks.end(), by_address);
    }
    const uint64_t end = segment.address + segment.total_size;
    uint64_t next = segment.address;
    std::vector<SnapshotBlock> gaps;
    for (const SnapshotBlock& block : segment.blocks) {
        if (block.address < next || block.address > end || block.size > end - block.address) {
            return input_error(
                fmt::format("The block at {:#x} overlaps another one or lies outside its segment at {:#x}.",
                            block.address, segment.address));
        }
        if (block.address > next) {
            gaps.push_back({.address = next, .size = block.address - next});
        }
        next = block.address + block.size;
    }
    if (next < end) {
        gaps.push_back({.address = next, .size = end - next});
    }
    if (!gaps.empty()) {
        segment.blocks.insert(segment.blocks.end(), gaps.begin(), gaps.end());
        std::sort(segment.blocks.begin(), segment.blocks.end(), by_address);
    }
    return {};
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

/// The last one wins, as in Python.
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
            continue;
        }
        TIDEMARK_TRY(append_item(*list, item));
    }
    if (list->kind == Kind::frame_list && frame_lists_[list->payload].size() > frame_limit) {
        return input_error(fmt::format("A stack has more than {} frames.", frame_limit));
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
    if (list.kind != Kind::frame_list) {
        return append_plain(list, item);
    }
    if (!inner || inner->kind != Kind::frame) {
        return input_error("The pickle holds a list of stack frames and other things.");
    }
    frame_lists_[list.payload].push_back(inner->payload);
    return {};
}

Status SnapshotBuilder::append_plain(Object& list, PickleValue item) {
    if (list.kind != Kind::list) {
        return input_error("The pickle holds a list of events, blocks or segments and other things.");
    }
    if (list.payload == none) {
        list.payload = lists_.take();
    }
    lists_[list.payload].push_back(item);
    return {};
}

Status SnapshotBuilder::append_record(Object& list, Object& record) {
    if (list.kind == Kind::list && list.payload == none) {
        list.kind = Kind::record_list;
        list.payload = record_lists_.take();
    }
    if (list.kind != Kind::record_list) {
        return input_error("The pickle holds a list of events, blocks or segments and other things.");
    }
    if (record.taken) {
        return input_error("The pickle uses one event, block or segment twice; every one of them happened once.");
    }
    record.taken = true;
    auto& runs = record_lists_[list.payload];
    if (!runs.empty() && runs.front().kind != record.kind) {
        return input_error("The pickle mixes events, blocks or segments in one list.");
    }
    if (!runs.empty() && runs.back().first + runs.back().count == record.payload) {
        ++runs.back().count;
    } else {
        runs.push_back({record.kind, record.payload, 1});
    }
    return {};
}

/// Puts `inner` into `outer`: from here on it cannot change.
Status SnapshotBuilder::nest(Object& outer, Object& inner) {
    if (&inner == &outer) {
        return input_error("The pickle puts a container into itself.");
    }
    if (!inner.frozen) {
        freeze(inner);
    }
    if (inner.depth >= depth_limit) {
        return input_error(fmt::format("The pickle nests containers more than {} levels deep.", depth_limit));
    }
    outer.depth = std::max<uint8_t>(outer.depth, static_cast<uint8_t>(inner.depth + 1));
    return {};
}

void SnapshotBuilder::freeze(Object& object) {
    object.frozen = true;
    if (object.kind == Kind::frame_list) {
        const uint32_t list = object.payload;
        become(object, Kind::stack, stack_cache_.intern(snapshot_.stacks, frame_lists_[list]));
        frame_lists_.resume(list);
    }
}

// Folding.

word::WordSet SnapshotBuilder::keys_of(Pairs pairs) {
    word::WordSet keys;
    for (size_t i = 0; i < pairs.size(); i += 2) {
        if (pairs[i].kind == PickleKind::text) {
            keys.add(pairs[i].text);
        }
    }
    return keys;
}

void SnapshotBuilder::become(Object& object, Kind kind, size_t payload) {
    object.kind = kind;
    object.payload = static_cast<uint32_t>(payload);
}

/// A dict that is put into a list becomes what its keys say. Its storage goes to the next dict.
Status SnapshotBuilder::fold_dict(Object& dict) {
    const word::WordSet keys = keys_of(pairs(dict));
    const uint32_t storage = dict.payload;
    if (keys.has(word::filename)) {
        TIDEMARK_TRY(fold_frame(dict));
    } else if (keys.has(word::action)) {
        TIDEMARK_TRY(begin_event(dict, pairs(dict)));
    } else if (keys.has(word::total_size)) {
        TIDEMARK_TRY(fold_segment(dict));
    } else if (keys.has(word::state) && keys.has(word::size)) {
        TIDEMARK_TRY(fold_block(dict));
    } else if (keys.has(word::stage) && keys.has(word::name)) {
        TIDEMARK_TRY(fold_annotation(dict));
    } else {
        return {};
    }
    dicts_.resume(storage);
    return {};
}

Status SnapshotBuilder::begin_event(Object& dict, Pairs pairs) {
    if (events_.size() >= static_cast<size_t>(never)) {
        return input_error("The snapshot holds more than two billion events.");
    }
    events_.push_back({});
    TIDEMARK_TRY(fold_event(events_[events_.size() - 1], pairs));
    become(dict, Kind::event, events_.size() - 1);
    return {};
}

Status SnapshotBuilder::fold_event(SnapshotEvent& event, Pairs pairs) {
    SnapshotContext context = snapshot_.contexts[event.context];
    for (size_t i = 0; i < pairs.size(); i += 2) {
        const PickleValue value = pairs[i + 1];
        bool good = true;
        switch (pairs[i].kind == PickleKind::text ? pairs[i].text : word::empty) {
            case word::action: good = to_action(value, event); break;
            case word::addr: good = to_address(value, event.address); break;
            case word::device_free: good = to_size(value, event.address); break;
            case word::size: good = to_size(value, event.size); break;
            case word::stream: good = to_stream(value, event.stream); break;
            case word::time_us: good = to_integer(value, event.time_us); break;
            case word::frames: good = to_stack(value, event.stack); break;
            case word::pool_id: good = to_pool(value, event.pool); break;
            case word::compile_context: good = to_string_id(value, context.compile_context); break;
            case word::user_metadata: good = to_metadata(value, context.user_metadata); break;
            default: break;
        }
        if (!good) [[unlikely]] {
            return wrong("An event", pairs[i].text, value);
        }
    }
    event.context = context_index(context);
    return {};
}

Status SnapshotBuilder::fold_frame(Object& dict) {
    Frame frame;
    const Pairs fields = pairs(dict);
    for (size_t i = 0; i < fields.size(); i += 2) {
        const PickleValue value = fields[i + 1];
        int64_t line = 0;
        bool good = true;
        switch (fields[i].kind == PickleKind::text ? fields[i].text : word::empty) {
            case word::name: good = to_string_id(value, frame.function); break;
            case word::filename: good = to_string_id(value, frame.file); break;
            case word::line:
                good = value.kind == PickleKind::none || to_integer(value, line);
                frame.line = static_cast<int32_t>(std::clamp<int64_t>(line, 0, INT32_MAX));
                break;
            default: break;
        }
        if (!good) {
            return wrong("A stack frame", fields[i].text, value);
        }
    }
    become(dict, Kind::frame, snapshot_.stacks.intern(frame));
    return {};
}

Status SnapshotBuilder::fold_block(Object& dict) {
    BlockRecord record;
    SnapshotBlock& block = record.block;
    const Pairs fields = pairs(dict);
    bool has_requested = false;
    for (size_t i = 0; i < fields.size(); i += 2) {
        const PickleValue value = fields[i + 1];
        bool good = true;
        switch (fields[i].kind == PickleKind::text ? fields[i].text : word::empty) {
            case word::address: good = record.has_address = to_address(value, block.address); break;
            case word::size: good = to_size(value, block.size); break;
            case word::requested_size: good = has_requested = to_size(value, block.requested); break;
            case word::state: good = to_state(value, block.state); break;
            case word::frames: good = to_stack(value, block.stack); break;
            default: break;
        }
        if (!good) {
            return wrong("A block", fields[i].text, value);
        }
    }
    if (!has_requested && block.state != BlockState::inactive) {
        block.requested = block.size;
    }
    if (const auto history = find(fields, word::history)) {
        TIDEMARK_TRY(fold_history(*history, record));
    }
    blocks_.push_back(record);
    become(dict, Kind::block, blocks_.size() - 1);
    return {};
}

/// Before torch 2.0 a block's stack and requested size stood in a list of past allocations, the latest first.
Status SnapshotBuilder::fold_history(PickleValue history, BlockRecord& record) {
    const Object* list = object(history);
    if (!list || list->kind != Kind::list || items(*list).empty() || record.block.state == BlockState::inactive) {
        return {};
    }
    const Object* latest = object(items(*list).front());
    if (!latest || latest->kind != Kind::dict) {
        return {};
    }
    const auto real_size = find(pairs(*latest), word::real_size);
    if (real_size && !to_size(*real_size, record.block.requested)) {
        return wrong("A block", word::real_size, *real_size);
    }
    const auto frames = find(pairs(*latest), word::frames);
    if (frames && record.block.stack == 0 && !to_stack(*frames, record.block.stack)) {
        return wrong("A block", word::frames, *frames);
    }
    return {};
}

Status SnapshotBuilder::fold_segment(Object& dict) {
    SnapshotSegment segment;
    const Pairs fields = pairs(dict);
    for (size_t i = 0; i < fields.size(); i += 2) {
        const PickleValue value = fields[i + 1];
        bool good = true;
        switch (fields[i].kind == PickleKind::text ? fields[i].text : word::empty) {
            case word::device: good = to_device(value, segment.device); break;
            case word::address: good = to_address(value, segment.address); break;
            case word::total_size: good = to_size(value, segment.total_size); break;
            case word::stream: good = to_stream(value, segment.stream); break;
            case word::segment_type:
                segment.is_large = value.kind == PickleKind::text && value.text == word::large;
                break;
            case word::is_expandable: good = to_flag(value, segment.is_expandable); break;
            case word::segment_pool_id: good = to_pool(value, segment.pool); break;
            case word::frames: good = to_stack(value, segment.stack); break;
            default: break;
        }
        if (!good) {
            return wrong("A segment", fields[i].text, value);
        }
    }
    TIDEMARK_TRY(take_blocks(find(fields, word::blocks).value_or(PickleValue{}), segment));
    snapshot_.segments.push_back(std::move(segment));
    become(dict, Kind::segment, snapshot_.segments.size() - 1);
    return {};
}

Status SnapshotBuilder::fold_annotation(Object& dict) {
    SnapshotAnnotation annotation;
    const Pairs fields = pairs(dict);
    for (size_t i = 0; i < fields.size(); i += 2) {
        const PickleValue value = fields[i + 1];
        bool good = true;
        switch (fields[i].kind == PickleKind::text ? fields[i].text : word::empty) {
            case word::name:
                good = value.kind == PickleKind::text;
                annotation.name = good ? valid_utf8(texts_[value.text]) : "";
                break;
            case word::stage: annotation.is_start = value.kind == PickleKind::text && value.text == word::start; break;
            case word::device: good = to_device(value, annotation.device); break;
            case word::time_us: good = to_integer(value, annotation.time_us); break;
            default: break;
        }
        if (!good) {
            return wrong("An annotation", fields[i].text, value);
        }
    }
    snapshot_.annotations.push_back(std::move(annotation));
    become(dict, Kind::annotation, snapshot_.annotations.size() - 1);
    return {};
}

/// Moves the blocks of `list` into the segment.
Status SnapshotBuilder::take_blocks(PickleValue list, SnapshotSegment& segment) {
    const auto runs = take_runs(list, Kind::block, "A segment's list of blocks");
    if (!runs) {
        return runs.error();
    }
    uint64_t next = segment.address;
    for (const Run& run : *runs) {
        for (uint32_t i = run.first; i < run.first + run.count; ++i) {
            segment.blocks.push_back(blocks_[i].block);
            SnapshotBlock& block = segment.blocks.back();
            block.address = blocks_[i].has_address ? block.address : next;
            next = block.address + block.size;
        }
        if (run.first + run.count == blocks_.size()) {
            blocks_.resize(run.first);
        }
    }
    return fit_blocks(segment);
}

// Fields.

bool SnapshotBuilder::to_size(PickleValue value, uint64_t& size) const {
    size = static_cast<uint64_t>(value.integer);
    return value.kind == PickleKind::integer && size <= size_limit;
}

bool SnapshotBuilder::to_address(PickleValue value, uint64_t& address) const {
    address = value.large_unsigned;
    return value.kind == PickleKind::large_unsigned || (value.kind == PickleKind::integer && value.integer >= 0);
}

bool SnapshotBuilder::to_integer(PickleValue value, int64_t& number) const {
    number = value.integer;
    return value.kind == PickleKind::integer;
}

bool SnapshotBuilder::to_device(PickleValue value, int& device) const {
    const bool good = value.kind == PickleKind::integer && value.integer >= 0 && value.integer < max_devices;
    device = good ? static_cast<int>(value.integer) : 0;
    return good;
}

bool SnapshotBuilder::to_flag(PickleValue value, bool& flag) const {
    flag = value.integer != 0;
    return value.kind == PickleKind::boolean || value.kind == PickleKind::integer;
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

bool SnapshotBuilder::to_pool(PickleValue value, uint32_t& pool) {
    const Object* pair = object(value);
    if (!pair || pair->kind != Kind::pair) {
        return value.kind == PickleKind::none;
    }
    const auto [entry, added] =
        pool_ids_.try_emplace(pairs_[pair->payload], static_cast<uint32_t>(snapshot_.pools.size()));
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

/// PyTorch writes "N/A" for a compile context it does not know.
bool SnapshotBuilder::to_string_id(PickleValue value, StringId& id) {
    const bool text = value.kind == PickleKind::text;
    id = text && value.text != word::not_available ? string_id(value.text) : 0;
    return text || value.kind == PickleKind::none;
}

/// A text, or from torch 2.13 on a dict. A dict may be shared by many events, so its JSON text is made once.
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
