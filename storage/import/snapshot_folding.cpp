// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Folds dicts into events, frames, blocks, segments and annotations.

#include <algorithm>

#include "storage/base/utf8.h"
#include "storage/import/snapshot_builder.h"

namespace tidemark {
namespace {

/// Sorts the blocks and fills gaps with inactive blocks. Removes blocks that overlap one before them or leave the
/// segment; returns how many. Requires that the segment's end is an address.
int64_t fit_blocks(SnapshotSegment& segment) {
    auto& blocks = segment.blocks;
    std::erase_if(blocks, [](const SnapshotBlock& block) { return block.size == 0; });
    const auto by_address = [](const SnapshotBlock& a, const SnapshotBlock& b) { return a.address < b.address; };
    if (!std::is_sorted(blocks.begin(), blocks.end(), by_address)) {
        std::stable_sort(blocks.begin(), blocks.end(), by_address);
    }
    const uint64_t end = segment.address + segment.total_size;
    uint64_t next = segment.address;
    std::vector<SnapshotBlock> fitted;
    fitted.reserve(blocks.size() + 1);
    int64_t removed = 0;
    for (const SnapshotBlock& block : blocks) {
        if (block.address < next || block.address > end || block.size > end - block.address) {
            ++removed;
            continue;
        }
        if (block.address > next) {
            fitted.push_back({.address = next, .size = block.address - next});
        }
        fitted.push_back(block);
        next = block.address + block.size;
    }
    if (next < end) {
        fitted.push_back({.address = next, .size = end - next});
    }
    blocks = std::move(fitted);
    return removed;
}

bool is_required_of_event(TextId key) { return key == word::action || key == word::addr || key == word::size; }

}  // namespace

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

/// Converts a dict that is put into a list, by its keys. The next dict reuses its storage.
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
    plain_items_ -= dicts_[storage].size();
    dicts_.release(storage);
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
            if (is_required_of_event(pairs[i].text)) {
                return wrong(Sentence("An event"), pairs[i].text, value);
            }
            note_damage(Record::event, pairs[i].text);
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
        bool good = true;
        switch (fields[i].kind == PickleKind::text ? fields[i].text : word::empty) {
            case word::name: good = to_string_id(value, frame.function); break;
            case word::filename: good = to_string_id(value, frame.file); break;
            case word::line: good = to_line(value, frame.line); break;
            default: break;
        }
        if (!good) {
            note_damage(Record::frame, fields[i].text);
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
        if (!good && fields[i].text == word::size) {
            return wrong(Sentence("A block"), fields[i].text, value);
        }
        if (!good) {
            note_damage(Record::block, fields[i].text);
        }
    }
    if (!has_requested && block.state != BlockState::inactive) {
        block.requested = block.size;
    }
    if (const auto history = find(fields, word::history)) {
        fold_history(*history, record);
    }
    blocks_.push_back(record);
    ++blocks_seen_;
    become(dict, Kind::block, blocks_.size() - 1);
    return {};
}

/// Before torch 2.0, a list of past allocations contained a block's stack and requested size, latest first.
void SnapshotBuilder::fold_history(PickleValue history, BlockRecord& record) {
    const Object* list = object(history);
    if (!list || list->kind != Kind::list || items(*list).empty() || record.block.state == BlockState::inactive) {
        return;
    }
    const Object* latest = object(items(*list).front());
    if (!latest || latest->kind != Kind::dict) {
        return;
    }
    const auto real_size = find(pairs(*latest), word::real_size);
    if (real_size && !to_size(*real_size, record.block.requested)) {
        note_damage(Record::block, word::real_size);
    }
    const auto frames = find(pairs(*latest), word::frames);
    if (frames && record.block.stack == 0 && !to_stack(*frames, record.block.stack)) {
        note_damage(Record::block, word::frames);
    }
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
                good = value.kind == PickleKind::text;
                segment.is_large = good && value.text == word::large;
                break;
            case word::is_expandable: good = to_flag(value, segment.is_expandable); break;
            case word::segment_pool_id: good = to_pool(value, segment.pool); break;
            case word::frames: good = to_stack(value, segment.stack); break;
            default: break;
        }
        if (!good && (fields[i].text == word::address || fields[i].text == word::total_size)) {
            return wrong(Sentence("A segment"), fields[i].text, value);
        }
        if (!good) {
            note_damage(Record::segment, fields[i].text);
        }
    }
    if (segment.address > UINT64_MAX - segment.total_size) {
        return input_error("A segment ends beyond the address space.");
    }
    take_blocks(find(fields, word::blocks).value_or(PickleValue{}), segment);
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
            case word::stage:
                good = value.kind == PickleKind::text;
                annotation.is_start = good && value.text == word::start;
                break;
            case word::device: good = to_device(value, annotation.device); break;
            case word::time_us: good = to_integer(value, annotation.time_us); break;
            default: break;
        }
        if (!good) {
            note_damage(Record::annotation, fields[i].text);
        }
    }
    snapshot_.annotations.push_back(std::move(annotation));
    become(dict, Kind::annotation, snapshot_.annotations.size() - 1);
    return {};
}

/// Moves the blocks of `list` into the segment.
void SnapshotBuilder::take_blocks(PickleValue list, SnapshotSegment& segment) {
    const auto runs = take_runs(list, Kind::block, Sentence("A segment's list of blocks"));
    if (!runs) {
        note_damage(Record::segment, word::blocks);
    }
    uint64_t next = segment.address;
    for (const Run& run : runs ? *runs : std::span<const Run>{}) {
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
    if (const int64_t removed = fit_blocks(segment); removed > 0) {
        note_damage(Record::block, word::address, removed);
    }
}

/// Counts a value that is left out, because it is not needed to read the rest.
void SnapshotBuilder::note_damage(Record record, TextId key, int64_t count) { damaged_[{record, key}] += count; }

}  // namespace tidemark
