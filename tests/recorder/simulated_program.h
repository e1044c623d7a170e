// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A recorded program without PyTorch and without a GPU: threads that push records into rings like the plugin, and an
// allocator whose state is known exactly.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "recorder/core/ring.h"
#include "storage/allocator/rules.h"
#include "storage/trace/trace.h"

namespace tidemark::test {

/// The shared memory and the recorder process.
class SimulatedProgram {
public:
    struct Setup {
        uint32_t rings = 8;
        uint64_t capacity = 1 << 16;
        int seals = recorder::region_seals;
    };
    explicit SimulatedProgram(const Setup& setup);
    SimulatedProgram(const SimulatedProgram&) = delete;
    SimulatedProgram& operator=(const SimulatedProgram&) = delete;
    ~SimulatedProgram();

    /// Starts tidemark-recorder for process `pid`. Returns false if it refuses; failure() has the reason.
    bool start_recorder(const std::string& output, pid_t pid, const std::string& session = "", bool replace = false,
                        int patience_s = 30, bool claims_name = false);
    bool wait_for(recorder::RecorderState state, int seconds = 30) const;
    std::string failure() const { return region_.header().failure; }
    pid_t recorder_pid(const std::string& output) const;

    const recorder::Region& region() const { return region_; }
    int file() const { return file_; }

private:
    recorder::Region region_;
    size_t bytes_ = 0;
    int file_ = -1;
};

tidemark_record record_of(int kind, int detail = 0);

/// Memory as named in messages about the graph.
struct MemoryMessage {
    uint8_t device = TIDEMARK_NO_DEVICE;
    uint64_t address = 0;
    uint64_t sequence = 0;
};

/// An autograd node as reported by its thread.
struct NodeMessage {
    uint32_t id = 0;
    std::string type = "MulBackward0";
    MemoryMessage output;
    uint64_t number = 0;
    uint32_t stack = 0, op = 0;
    uint16_t stack_thread = 0;
    uint8_t flags = 0;
    std::vector<tidemark_edge> edges;
    std::vector<tidemark_saved> saved;
};

struct PathLinkMessage {
    std::string kind, name, function, file;
    int line = 0;
};

/// One thread of the program, with its ring and its definitions.
class SimulatedThread {
public:
    /// Acquires a free ring.
    explicit SimulatedThread(SimulatedProgram& program, uint16_t serial, int64_t native_thread);
    void retire();

    /// Pushes a message into the ring and waits for room. `patience`: number of tries before the message is dropped; -1
    /// waits forever.
    bool push(tidemark_record record, const void* payload = nullptr, uint32_t bytes = 0, int64_t patience = -1);

    uint32_t text(const std::string& text);
    uint32_t stack(const std::vector<std::pair<std::string, int>>& functions_and_lines, uint64_t module = 0,
                   const std::string& file = "/home/anna/train.py");
    uint32_t op(uint8_t scope, const std::string& name, uint32_t parent);
    void name_module(uint64_t address, const std::string& name);
    void meta(const std::string& key, const std::string& value);
    void device(int index, const std::string& name, uint64_t total);
    void step(uint64_t number, bool reported);
    void end(uint8_t how, const std::string& sentence = "");

    void node(const NodeMessage& node);
    /// Returns a saved tensor: a whole tensor of `bytes` at the start of the memory.
    tidemark_saved saved(const std::string& name, const MemoryMessage& memory, uint64_t bytes);
    void node_run(uint32_t id, bool released, const MemoryMessage& gradient = {});
    void node_destroyed(uint32_t id);
    void label(uint8_t category, const MemoryMessage& memory, const std::string& name = "", uint64_t identity = 0);
    void heap_scan(const std::string& reason, uint64_t objects, uint64_t tensors);
    void referrer(uint32_t node, const MemoryMessage& memory, const std::vector<PathLinkMessage>& links);

    uint16_t serial() const { return static_cast<uint16_t>(header_->serial); }
    recorder::RingHeader& header() { return *header_; }

private:
    SimulatedProgram& program_;
    recorder::RingHeader* header_;
    tidemark_record* slots_;
    uint32_t next_text_ = 1, next_stack_ = 1, next_op_ = 1;
    std::map<std::string, uint32_t> texts_;
};

/// The context of an event, in addition to the allocator's own data.
struct EventContext {
    uint32_t stack = 0, op = 0;
    uint16_t stack_thread = 0;
    uint8_t phase = 0;
    bool is_light = false;  ///< of an event in a light step
};

/// A caching allocator of one device: best fit, PyTorch's rules of rounding and splitting. Logs every lifetime.
class SimulatedAllocator {
public:
    explicit SimulatedAllocator(int device, bool expandable = false) : device_(device), expandable_(expandable) {}

    /// Number of tries before an event is dropped because the ring is full; -1 waits forever.
    void set_patience(int64_t tries) { patience_ = tries; }

    /// Forgets lifetimes when they end, for programs that run long: truth() is then not available.
    void forget_ended() { forgets_ = true; }

    /// Thread: any. Events are numbered and pushed under the lock, as in PyTorch.
    uint64_t allocate(SimulatedThread& thread, uint64_t bytes, const EventContext& context = {});
    void free(SimulatedThread& thread, uint64_t address, bool at_once = true, const EventContext& context = {});
    void complete_free(SimulatedThread& thread, uint64_t address);
    /// Returns free segments to the driver.
    void empty_cache(SimulatedThread& thread);

    /// Reports the current state, or the start state (events are then numbered from here).
    void report_state(SimulatedThread& thread, uint8_t purpose);
    /// Like report_state(), with a wrong size for one block.
    void report_wrong_state(SimulatedThread& thread);

    /// Returns memory that is currently allocated, and the id that its row must have (for allocations of the
    /// recording).
    MemoryMessage memory(uint64_t address) const;
    int64_t allocation_id(uint64_t address) const;

    /// Returns the expected history, in the order and form of a trace's columns (without stacks, origins and times).
    DeviceHistory truth() const;
    uint64_t events() const { return next_; }
    uint64_t peak_bytes() const { return peak_; }
    int64_t dropped() const { return dropped_; }

private:
    struct Block {
        uint64_t size, requested;
        int state;  ///< 0 free, 1 allocated, 2 pending
        uint64_t segment;
    };
    struct Seg {
        uint64_t size;
        bool is_large;
        uint32_t index;
    };

    void emit(SimulatedThread& thread, Action action, uint64_t address, uint64_t size, const EventContext& context);
    uint64_t new_segment(SimulatedThread& thread, uint64_t rounded, bool is_large);
    void merge(std::map<uint64_t, Block>::iterator block);
    void report(SimulatedThread& thread, uint8_t purpose, uint64_t lie);

    const int device_;
    const bool expandable_;
    int64_t patience_ = -1;
    mutable std::mutex mutex_;
    std::map<uint64_t, Block> blocks_;
    std::map<uint64_t, Seg> segments_;
    std::set<std::pair<uint64_t, uint64_t>> free_[2];  ///< sizes and addresses, by pool
    std::map<uint64_t, size_t> open_;                  ///< address -> index in lifetimes_
    std::vector<Allocation> lifetimes_;
    bool forgets_ = false;
    std::vector<size_t> forgotten_;  ///< indexes in lifetimes_
    std::vector<Segment> rows_;
    bool recording_ = false;
    uint64_t next_ = 0, next_address_ = 0x7f0000000000ull, allocated_ = 0, peak_ = 0;
    int64_t dropped_ = 0;
};

/// Random traffic: sizes from a few bytes to tens of MiB, frees in any order, some of them pending for a stream.
class Traffic {
public:
    Traffic(SimulatedAllocator& allocator, SimulatedThread& thread, uint32_t seed);
    void run(int64_t allocations);
    void free_all();

private:
    EventContext context();

    SimulatedAllocator& allocator_;
    SimulatedThread& thread_;
    std::mt19937 random_;
    std::vector<uint64_t> mine_, pending_;
    std::vector<uint32_t> stacks_, ops_;
};

}  // namespace tidemark::test
