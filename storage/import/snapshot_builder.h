// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Converts pickled values to a Snapshot while they are read, so that a tree of 600,000 dicts never exists in memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "storage/base/result.h"
#include "storage/import/chunked_array.h"
#include "storage/import/pickle_machine.h"
#include "storage/import/recycling_pool.h"
#include "storage/import/snapshot.h"
#include "storage/import/snapshot_words.h"
#include "storage/import/stack_cache.h"
#include "storage/import/text_pool.h"

namespace tidemark {

/// A pickle fills a container before it uses the container elsewhere, so a container is converted ("folded") at its
/// first use: a dict in a list becomes an event, frame, block, segment or annotation if it has the keys of one; a list
/// of frames becomes a stack. Folded and used containers cannot change, which also prevents cycles. An event is folded
/// as soon as it has its keys, because a writer may put a whole trace on the pickle's stack before it fills the list.
///
/// The action, address and size of events, the address and size of segments, and the size of blocks are required; a
/// snapshot that lacks their meaning is refused. Any other value of a wrong type gets its default, is counted in
/// Snapshot::damaged, and costs nothing else.
///
/// Single-threaded. Pass all values, destroy the machine, then call `finish` once.
class SnapshotBuilder final : public PickleConsumer {
public:
    /// Requires a new pool that outlives the builder.
    explicit SnapshotBuilder(TextPool& texts);

    Result<PickleValue> make_dict() override;
    Result<PickleValue> make_list() override;
    Result<PickleValue> make_tuple(std::span<const PickleValue> items) override;
    Status set_items(PickleValue dict, std::span<const PickleValue> items) override;
    Status append(PickleValue list, std::span<const PickleValue> items) override;

    uint64_t memory() const override;

    Result<Snapshot> finish(PickleValue root);

private:
    enum class Kind : uint8_t {
        dict,         ///< payload: dicts_, or none while empty
        list,         ///< payload: lists_, or none while empty
        pair,         ///< a tuple of two integers; payload: pairs_
        frame,        ///< payload: FrameId
        frame_list,   ///< payload: frame_lists_; becomes a stack at its first use
        stack,        ///< payload: StackId
        event,        ///< payload: events_
        block,        ///< payload: blocks_
        segment,      ///< payload: snapshot_.segments
        annotation,   ///< payload: snapshot_.annotations
        record_list,  ///< payload: record_lists_
    };
    static constexpr uint32_t none = UINT32_MAX;

    struct Object {
        Kind kind = Kind::dict;
        bool frozen = false;  ///< was used in another container, so it is complete
        bool taken = false;   ///< a record that is in a list, or a record list whose records were fetched
        uint8_t depth = 0;    ///< nesting depth of the containers inside
        uint32_t payload = none;
    };
    /// Records of one kind with consecutive positions in their store.
    struct Run {
        Kind kind;
        uint32_t first;
        uint32_t count;
    };
    struct BlockRecord {
        SnapshotBlock block;
        bool has_address = false;
    };
    using Pairs = std::span<const PickleValue>;  ///< key, value, key, value, ...

    // Containers.
    Result<PickleValue> make(Kind kind, uint32_t payload);
    Object* object(PickleValue value);
    const Object* object(PickleValue value) const;
    Pairs pairs(const Object& dict) const;
    std::span<const PickleValue> items(const Object& list) const;
    std::optional<PickleValue> find(Pairs pairs, TextId key) const;
    void freeze(Object& object);
    Status nest(Object& outer, Object& inner);
    Status append_item(Object& list, PickleValue item);
    Status append_record(Object& list, Object& record);
    void append_plain(Object& list, PickleValue item);

    // Folding.
    static bool is_record(Kind kind) { return kind >= Kind::event && kind <= Kind::annotation; }
    static word::WordSet keys_of(Pairs pairs);
    Status fold_dict(Object& dict);
    Status begin_event(Object& dict, Pairs pairs);
    Status fold_event(SnapshotEvent& event, Pairs pairs);
    Status fold_frame(Object& dict);
    Status fold_block(Object& dict);
    void fold_history(PickleValue history, BlockRecord& record);
    Status fold_segment(Object& dict);
    Status fold_annotation(Object& dict);
    void take_blocks(PickleValue list, SnapshotSegment& segment);
    void become(Object& object, Kind kind, size_t payload);

    // Values that are left out.
    enum class Record : uint8_t { snapshot, event, frame, block, segment, annotation };
    void note_damage(Record record, TextId key, int64_t count = 1);
    void note_damage_unless(bool good, TextId key);
    static std::string_view name_of(Record record);
    static Record record_of(Kind kind);
    Kind list_kind(const Object& record_list) const;

    // Convert a value. Return false, and leave the result as it was or at its default, if the value has the wrong type.
    bool to_size(PickleValue value, uint64_t& size) const;
    bool to_address(PickleValue value, uint64_t& address) const;
    bool to_integer(PickleValue value, int64_t& number) const;
    bool to_device(PickleValue value, int& device) const;
    bool to_stack(PickleValue value, StackId& stack) const;
    bool to_string_id(PickleValue value, StringId& id);
    bool to_flag(PickleValue value, bool& flag) const;
    bool to_action(PickleValue value, SnapshotEvent& event);
    bool to_stream(PickleValue value, uint16_t& stream);
    bool to_pool(PickleValue value, uint32_t& pool);
    std::optional<PoolKey> pool_key(PickleValue value) const;
    bool to_line(PickleValue value, int32_t& line) const;
    bool to_state(PickleValue value, BlockState& state) const;
    bool to_metadata(PickleValue value, StringId& id);
    uint32_t context_index(const SnapshotContext& context);
    StringId string_id(TextId text);

    // Finishing (snapshot_finish.cpp).
    Status finish_root(PickleValue root);
    Status finish_top_level(Pairs pairs);
    Status finish_segments(PickleValue list);
    Status finish_traces(PickleValue list);
    Status finish_trace(PickleValue list, std::vector<SnapshotEvent>& trace);
    Status finish_annotations(PickleValue list);
    void finish_settings(PickleValue dict);
    void finish_damage();
    Result<std::span<const Run>> take_runs(PickleValue list, Kind kind, const Sentence& what);
    void copy_events(Run run, std::vector<SnapshotEvent>& trace);
    bool is_empty_container(PickleValue value) const;
    Sentence describe(PickleValue value) const;
    Error wrong(const Sentence& owner, TextId key, PickleValue value) const;
    void render_json(PickleValue value, std::string& json) const;
    void render_object(const Object& container, std::string& json) const;
    std::string json_of(PickleValue value) const;

    TextPool& texts_;
    Snapshot snapshot_;

    ChunkedArray<Object, 65536> objects_;
    RecyclingPool<PickleValue> dicts_;
    RecyclingPool<PickleValue> lists_;
    RecyclingPool<FrameId> frame_lists_;
    RecyclingPool<Run> record_lists_;
    std::vector<PoolKey> pairs_;
    std::map<PoolKey, uint32_t> pair_ids_;

    ChunkedArray<SnapshotEvent, 16384> events_;
    std::vector<uint32_t> events_copied_;  ///< by chunk of events_
    std::vector<BlockRecord> blocks_;
    uint64_t plain_items_ = 0;  ///< in dicts_, lists_ and frame_lists_
    uint64_t blocks_seen_ = 0;  ///< also those that segments took
    int64_t never_freed_ = 0;   ///< alloc events without a free_completed event

    StackCache stack_cache_;
    std::vector<StringId> string_ids_;                     ///< by TextId; `none` if not interned yet
    std::unordered_map<uint32_t, StringId> metadata_ids_;  ///< by object
    std::unordered_map<uint64_t, uint32_t> context_ids_{{0, 0}};
    uint64_t last_context_ = 0;
    uint32_t last_context_id_ = 0;
    std::unordered_map<uint64_t, uint16_t> stream_ids_;
    uint64_t last_stream_ = 0;
    uint16_t last_stream_id_ = 0;
    std::map<PoolKey, uint32_t> pool_ids_{{PoolKey{0, 0}, 0}};
    struct SeenAction {
        TextId text = 0;
        Action action = Action::unknown;
        uint8_t unknown_action = 0;
    };
    std::vector<SeenAction> actions_;
    std::map<std::pair<Record, TextId>, int64_t> damaged_;
    size_t json_budget_;
};

}  // namespace tidemark
