// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/graph_recorder.h"

#include <ATen/record_function.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/functions/tensor.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <typeinfo>
#include <utility>

#include "recorder/core/per_thread.h"
#include "recorder/core/spare_memory.h"
#include "recorder/torch/allocator_tracker.h"
#include "recorder/torch/detail_level.h"
#include "recorder/torch/forward_links.h"
#include "recorder/torch/labels.h"
#include "recorder/torch/light_steps.h"
#include "recorder/torch/node_types.h"
#include "recorder/torch/repeated_work.h"
#include "recorder/torch/wrapped_tensor.h"

namespace tidemark::plugin {

namespace {

using torch::autograd::AccumulateGrad;
using torch::autograd::FunctionPreHook;
using torch::autograd::variable_list;
using torch::dynamo::autograd::CompiledNodeArgs;

// Nodes belong to the process. Ids are never reused.
std::atomic<uint32_t> last_number{0};
std::atomic<uint64_t> nodes_alive{0};
std::atomic<uint32_t> current_recording{0};  ///< number of the recording that records the graph; 0: none
std::atomic<uint32_t> recordings{0};
std::atomic<uint32_t> regions_reported{0};  ///< number of the recording that reported compiled regions as a data gap

class NodeTag final : public FunctionPreHook {
public:
    NodeTag(Node& node, NodeType::Kind kind)
        : node_(node),
          accumulates_(kind == NodeType::Kind::accumulate_grad),
          runs_python_(kind == NodeType::Kind::python || kind == NodeType::Kind::cpp_function) {
        nodes_alive.fetch_add(!accumulates_, std::memory_order_relaxed);
    }
    NodeTag(const NodeTag&) = delete;
    NodeTag& operator=(const NodeTag&) = delete;
    ~NodeTag() override {
        nodes_alive.fetch_sub(!accumulates_, std::memory_order_relaxed);
        report_destroyed();
    }
    // A node's tag is created by the thread of the forward pass and destroyed by that of the backward pass.
    static void* operator new(size_t) { return recorder::SpareMemory<NodeTag>::take(); }
    static void operator delete(void* memory) { recorder::SpareMemory<NodeTag>::give(memory); }

    variable_list operator()(const variable_list& grads) override {
        // Without details, too: of a node that was recorded before they ended, nobody would know that it was executed.
        // Leaves outlive steps, and a light step must not record each of them.
        const bool details = records_details();
        if ((details || !accumulates_) && number_ != 0 &&
            recording_ == current_recording.load(std::memory_order_relaxed)) {
            ThreadState& state = ThreadState::here();
            const MeasuredCallback measured(state);
            if (tidemark_ring* ring = state.ring()) {
                if (details) {
                    begins(state);
                }
                state.node_executes(executed(), ring);
            }
        }
        return grads;
    }

    // Compiled autograd calls this function of each hook. The tag has no arguments. It is const since torch 2.7.
    void compiled_args(CompiledNodeArgs&) {}
    void compiled_args(CompiledNodeArgs&) const {}

    uint32_t number(uint32_t recording) const { return recording_ == recording ? number_ : 0; }
    void begin(uint32_t recording) {
        number_ = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
        recording_ = recording;
    }
    /// Stores a weak reference to the node's output, whose gradient the program may retain.
    void set_output(const c10::TensorImpl& output) {
        output_ = WeakTensor(StrongTensor::reclaim_copy(const_cast<c10::TensorImpl*>(&output)));
    }

    /// Hooks unpack its saved tensors when it is executed: they may recompute a part of the forward pass.
    void has_hooks() { runs_python_ = true; }

private:
    void begins(ThreadState& state) const {
        // Gradients are enabled while a graph of derivatives is created.
        node_begins(runs_python_ || c10::GradMode::is_enabled(), state.wish);
        state.enter_node();
        if (!node_.retains_grad_hooks().empty()) {
            report_retained_gradient();
        }
    }

    ExecutedNode executed() const {
        ExecutedNode executed{number_, torch::autograd::get_current_graph_task_id()};
        if (accumulates_) {
            executed.variable = static_cast<AccumulateGrad&>(node_).variable.getIntrusivePtr();
        }
        return executed;
    }

    void report_retained_gradient() const {
        const StrongTensor output = output_.lock();
        if (const c10::TensorImpl* gradient = output ? gradient_of(*output) : nullptr) {
            const TensorPlace place = memory_of(*gradient);
            report_label(TIDEMARK_CATEGORY_GRADIENT, {place.address, place.device});
        }
    }

    void report_destroyed() const {
        if (recording_ != current_recording.load(std::memory_order_relaxed) || number_ == 0) {
            return;
        }
        ThreadState& state = ThreadState::here();
        const MeasuredCallback measured(state);
        if (tidemark_ring* ring = state.ring()) {
            tidemark_record record{};
            record.kind = TIDEMARK_NODE_DESTROYED;
            record.node_destroyed.id = number_;
            core()->push(ring, &record, nullptr, 0);
        }
    }

    Node& node_;
    const bool accumulates_;  ///< such nodes are not counted, because parameters retain them
    bool runs_python_;        ///< or other code that may call any op
    WeakTensor output_{StrongTensor()};
    uint32_t number_ = 0;
    uint32_t recording_ = 0;
};

/// Held for a few instructions, and hardly ever by two threads.
class BriefLock {
public:
    void lock() {
        while (held_.test_and_set(std::memory_order_acquire)) {
            std::this_thread::yield();
        }
    }
    void unlock() { held_.clear(std::memory_order_release); }

private:
    std::atomic_flag held_ = ATOMIC_FLAG_INIT;
};

// Threads share leaves. The locks ensure that one thread tags a leaf.
std::array<BriefLock, 64> tagging;

/// The node's id in this recording, and whether it is new.
struct Tagged {
    uint32_t number;
    bool is_new;
    NodeTag* tag;
};
Tagged tag(Node& node, uint32_t recording) {
    const std::lock_guard lock(tagging[(reinterpret_cast<uintptr_t>(&node) >> 6) % tagging.size()]);
    NodeTag* existing = nullptr;
    for (const auto& hook : node.pre_hooks()) {
        if (typeid(*hook) == typeid(NodeTag)) {
            existing = static_cast<NodeTag*>(hook.get());
        }
    }
    if (existing == nullptr) {
        auto added = std::make_unique<NodeTag>(node, type_of(node).kind);
        existing = added.get();
        node.add_pre_hook(std::move(added));
    } else if (const uint32_t number = existing->number(recording)) {
        return {number, false, existing};
    }
    existing->begin(recording);
    return {existing->number(recording), true, existing};
}

/// Text ids of node types and their fields, for one thread and one recording.
class TypeTexts {
public:
    struct Texts {
        uint32_t name = 0;
        std::vector<uint32_t> fields;
    };

    const Texts& of(const NodeType& type, tidemark_ring* ring) {
        if (ring != ring_ || ring->serial != serial_) {
            ring_ = ring;
            serial_ = ring->serial;
            texts_.clear();
        }
        if (texts_.size() <= type.number) {
            texts_.resize(type.number + 1);
        }
        Texts& texts = texts_[type.number];
        if (texts.name == 0) {
            texts.name = core()->text(ring, type.name.data(), type.name.size());
            texts.fields.clear();
            for (const SavedField& field : type.saved) {
                texts.fields.push_back(core()->text(ring, field.name.data(), field.name.size()));
            }
        }
        return texts;
    }

private:
    tidemark_ring* ring_ = nullptr;
    uint16_t serial_ = 0;
    std::vector<Texts> texts_;
};

/// The slot of the edge to the node that CopySlices wraps, which is not in next_edges.
constexpr uint16_t wrapped_slot = UINT16_MAX;

class GraphRecorder {
public:
    static GraphRecorder& here() { return recorder::PerThread<GraphRecorder>::here(); }

    uint32_t report(Node& root, const c10::TensorImpl& output, const TensorPlace& allocated) {
        const uint32_t recording = current_recording.load(std::memory_order_relaxed);
        state_ = &ThreadState::here();
        ring_ = recording == 0 ? nullptr : state_->ring();
        if (ring_ == nullptr) {
            return 0;
        }
        const Tagged tagged = tag(root, recording);
        if (!tagged.is_new) {
            return tagged.number;
        }
        if (state_->is_in_derivative()) {
            need_details();  // the graph of a derivative (create_graph=True) may retain itself, and no scan finds it
        }
        tagged.tag->set_output(output);
        recording_ = recording;
        thread_ = at::RecordFunction::currentThreadId();
        to_report_.push_back({&root, tagged.tag, tagged.number});
        for (bool is_root = true; !to_report_.empty(); is_root = false) {
            const Found found = to_report_.back();
            to_report_.pop_back();
            report_one(found, is_root ? allocated : TensorPlace{}, is_root);
        }
        return tagged.number;
    }

private:
    struct Found {
        Node* node;
        NodeTag* tag;
        uint32_t number;
    };

    void report_compiled_region(const NodeType& type) {
        constexpr char region[] = "CompiledFunction";
        constexpr uint8_t not_recorded = 10;
        constexpr char reason[] = "compiled_regions";
        if (type.kind == NodeType::Kind::python && type.name.compare(0, sizeof region - 1, region) == 0 &&
            regions_reported.exchange(recording_, std::memory_order_relaxed) != recording_) {
            tidemark_record record{};
            record.kind = TIDEMARK_DATA_GAP;
            record.detail = not_recorded;
            core()->push(ring_, &record, reason, sizeof reason - 1);
        }
    }

    void report_one(const Found& found, const TensorPlace& allocated, bool is_root) {
        Node& node = *found.node;
        const NodeType& type = type_of(node);
        report_compiled_region(type);
        const TypeTexts::Texts& texts = texts_.of(type, ring_);
        tidemark_record record{};
        record.kind = TIDEMARK_NODE;
        record.node.id = found.number;
        record.node.type = texts.name;
        record.node.op = is_root ? state_->current_op() : 0;
        record.node.number = node.sequence_nr();
        TensorPlace place = allocated;
        std::optional<size_t> events;
        if (type.kind == NodeType::Kind::accumulate_grad) {
            place = describe_leaf(static_cast<AccumulateGrad&>(node), record);
        } else {
            events = describe_creation(node, type, place, record);
            record.node.flags = is_found_late(record, is_root, events) ? TIDEMARK_NODE_LATE : 0;
        }
        record.node.address = place.address;
        record.node.device = place.device;
        collect_edges(node, type);
        if (collect_saved(node, type, texts, record.node.device)) {
            found.tag->has_hooks();
        }
        record.node.edges = static_cast<uint16_t>(edges_.size());
        record.node.saved = static_cast<uint16_t>(saved_.size());
        if (record.node.device != TIDEMARK_NO_DEVICE) {
            record.node.sequence = sequence_at(events, record.node.device);
        }
        push(record);
    }

    /// Returns the number of the device's next event after so many events of the forward pass; nothing: after all.
    uint64_t sequence_at(std::optional<size_t> events, uint8_t device) const {
        const auto then = events ? state_->forward_nodes().next_event(*events, device) : std::nullopt;
        return then ? *then : events_so_far(device);
    }

    /// Sets the stack of the op that created a node. If that op was not observed, sets also what it would have told:
    /// the op and its output. Returns how many events of the pass came before its end then.
    std::optional<size_t> describe_creation(Node& node, const NodeType& type, TensorPlace& output,
                                            tidemark_record& record) {
        const auto sequence = static_cast<int64_t>(node.sequence_nr());
        StackRef stack = forward_op(node.thread_id(), sequence);
        std::optional<size_t> events;
        ForwardNodes& nodes = state_->forward_nodes();
        const bool is_of_pass = nodes.has(sequence) && node.thread_id() == thread_;
        if (is_of_pass && (stack.id != 0 || state_->is_in_op())) {
            const bool has_output = output.device != TIDEMARK_NO_DEVICE;
            const DeviceAddress made{output.address, output.device};
            nodes.learn(sequence,
                        {type.number, record.node.op, stack, has_output ? std::optional(made) : std::nullopt});
        } else if (is_of_pass) {
            const auto known = nodes.find(sequence, type.number);
            if (!known || !node.retains_grad_hooks().empty()) {
                observe_next_forward();  // whose ops tell what created the node, and whose gradient is retained
            }
            if (known) {
                stack = known->stack;
                remember_forward_op(node.thread_id(), sequence, stack);
                events = known->events;
                record.node.op = known->op;
                output.address = known->output ? known->output->address : 0;
                output.device = known->output ? known->output->device : TIDEMARK_NO_DEVICE;
            }
        }
        record.node.stack = stack.id;
        record.node.stack_thread = stack.thread;
        return events;
    }

    static TensorPlace describe_leaf(AccumulateGrad& node, tidemark_record& record) {
        const c10::TensorImpl* variable = node.variable.unsafeGetTensorImpl();
        record.node.flags = TIDEMARK_NODE_ACCUMULATES;
        record.node.number = reinterpret_cast<uintptr_t>(variable);
        return memory_of(*variable);
    }

    /// Returns whether a node was created some time before now, when it is found: in a pause or a light step, whose ops
    /// are not observed. The result of an op that ends now is new. `events`: of the pass before the end of its op.
    bool is_found_late(const tidemark_record& record, bool is_root, std::optional<size_t> events) const {
        if (are_details_paused()) {
            return true;
        }
        if (!state_->is_in_op()) {
            return !events;
        }
        const bool is_result = is_root && record.node.op != 0;
        return (were_details_paused() || steps_may_be_light()) && record.node.stack == 0 && !is_result;
    }

    void collect_edges(Node& node, const NodeType& type) {
        edges_.clear();
        const auto& edges = node.next_edges();
        for (size_t slot = 0; slot < std::min(edges.size(), size_t{wrapped_slot}); ++slot) {
            if (edges[slot].function) {
                add_edge(*edges[slot].function, static_cast<uint16_t>(slot),
                         static_cast<uint16_t>(edges[slot].input_nr));
            }
        }
        if (type.kind == NodeType::Kind::copy_slices) {
            if (const auto& wrapped = static_cast<torch::autograd::CopySlices&>(node).fn) {
                add_edge(*wrapped, wrapped_slot, 0);
            }
        }
    }

    void add_edge(Node& next, uint16_t slot, uint16_t input) {
        const Tagged tagged = tag(next, recording_);
        if (tagged.is_new) {
            to_report_.push_back({&next, tagged.tag, tagged.number});
        }
        edges_.push_back({tagged.number, slot, input});
    }

    /// Collects the saved tensors. A node has one device: that of its output, else that of the first GPU tensor it
    /// saved. Returns whether hooks packed one.
    bool collect_saved(const Node& node, const NodeType& type, const TypeTexts::Texts& texts, uint8_t& device) {
        slots_.clear();
        saved_.clear();
        append_saved(node, type, slots_);
        bool has_packed = false;
        for (const SavedSlot& slot : slots_) {
            const bool packed = is_packed(*slot.saved);
            has_packed |= packed;
            if (saved_.size() < UINT16_MAX && (packed || data_of(*slot.saved).defined())) {
                add_saved(slot, packed, type, texts, device);
            }
        }
        return has_packed;
    }

    void add_saved(const SavedSlot& slot, bool packed, const NodeType& type, const TypeTexts::Texts& texts,
                   uint8_t& device) {
        tidemark_saved saved{};
        saved.name = slot.index < 0 ? texts.fields[slot.field] : name_in_list(type.saved[slot.field].name, slot.index);
        saved.version = static_cast<uint16_t>(std::min<uint32_t>(version_of(*slot.saved), UINT16_MAX));
        saved.device = TIDEMARK_NO_DEVICE;
        saved.flags = packed ? TIDEMARK_SAVED_PACKED : 0;
        if (!packed) {
            describe(*data_of(*slot.saved).unsafeGetTensorImpl(), saved);
        }
        if (saved.device != TIDEMARK_NO_DEVICE) {
            state_->op_memory().claim({saved.address, saved.device});
            device = device == TIDEMARK_NO_DEVICE ? saved.device : device;
        }
        if (saved.device != device) {
            saved.address = 0;  // a record has the event count of one device only
            saved.device = TIDEMARK_NO_DEVICE;
        }
        saved_.push_back(saved);
    }

    static void describe(const c10::TensorImpl& tensor, tidemark_saved& saved) {
        const TensorPlace place = memory_of(tensor);
        const TensorExtent extent = extent_of(tensor, place);
        saved.address = place.address;
        saved.device = place.device;
        saved.offset = extent.offset;
        saved.bytes = extent.bytes;
        saved.flags = extent.bytes != place.storage_bytes ? TIDEMARK_SAVED_VIEW : 0;
    }

    uint32_t name_in_list(const std::string& list, int32_t index) {
        char text[256];
        const int length = std::snprintf(text, sizeof text, "%s[%d]", list.c_str(), static_cast<int>(index));
        return core()->text(ring_, text, static_cast<size_t>(length));
    }

    void push(tidemark_record& record) {
        const size_t edges = edges_.size() * sizeof(tidemark_edge), saved = saved_.size() * sizeof(tidemark_saved);
        if (payload_.size() < edges + saved) {
            payload_.resize(edges + saved);
        }
        if (edges > 0) {
            std::memcpy(payload_.data(), edges_.data(), edges);
        }
        if (saved > 0) {
            std::memcpy(payload_.data() + edges, saved_.data(), saved);
        }
        core()->push(ring_, &record, payload_.data(), static_cast<uint32_t>(edges + saved));
    }

    ThreadState* state_ = nullptr;  ///< of the calling thread
    tidemark_ring* ring_ = nullptr;
    uint32_t recording_ = 0;
    uint64_t thread_ = 0;  ///< RecordFunction's id of the calling thread
    TypeTexts texts_;
    std::vector<Found> to_report_;
    std::vector<SavedSlot> slots_;
    std::vector<tidemark_edge> edges_;
    std::vector<tidemark_saved> saved_;
    std::vector<char> payload_;  ///< at least as long as the last one
};

}  // namespace

void record_graph(bool record) {
    const uint32_t number = record ? recordings.fetch_add(1, std::memory_order_relaxed) + 1 : 0;
    current_recording.store(number, std::memory_order_relaxed);
}

bool graph_is_recorded() { return current_recording.load(std::memory_order_relaxed) != 0; }

uint32_t report_node(Node& node, const c10::TensorImpl& output, const TensorPlace& allocated) {
    return GraphRecorder::here().report(node, output, allocated);
}

Node* node_of(const c10::TensorImpl& tensor) {
    const auto* meta =
        static_cast<const torch::autograd::AutogradMeta*>(const_cast<c10::TensorImpl&>(tensor).autograd_meta());
    return meta == nullptr ? nullptr : meta->grad_fn_.get();
}

void report_executed_node(const ExecutedNode& executed, tidemark_ring* ring) {
    tidemark_record record{};
    record.kind = TIDEMARK_NODE_RUN;
    record.detail = !executed.retains_graph;
    record.node_run.id = executed.number;
    record.node_run.device = TIDEMARK_NO_DEVICE;
    const StrongTensor variable = executed.variable.lock();
    if (const c10::TensorImpl* gradient = variable ? gradient_of(*variable) : nullptr) {
        const TensorPlace place = memory_of(*gradient);
        record.node_run.device = place.device;
        record.node_run.address = place.device == TIDEMARK_NO_DEVICE ? 0 : place.address;
        record.node_run.sequence = place.device == TIDEMARK_NO_DEVICE ? 0 : events_so_far(place.device);
    }
    core()->push(ring, &record, nullptr, 0);
}

LiveNodes live_nodes() {
    return {nodes_alive.load(std::memory_order_relaxed), last_number.load(std::memory_order_relaxed)};
}

}  // namespace tidemark::plugin
