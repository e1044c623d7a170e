// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The recorder process on simulated autograd graphs: every node, saved tensor and referrer is linked to the right
// allocation, in whatever order the messages are read.
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "tests/recorder/recording_fixture.h"
#include "tests/recorder/simulated_program.h"

namespace tidemark::test {
namespace {

using Rows = std::vector<std::string>;

class GraphRecording : public Recording {
protected:
    Rows meta(const std::string& key) const { return rows("SELECT value FROM meta WHERE key = '" + key + "'"); }
    /// Waits until the recorder has read all rings, and for two more commits.
    static void wait_until_written(const SimulatedProgram& program) {
        for (uint32_t i = 0; i < program.region().header().ring_count; ++i) {
            auto& ring = program.region().ring(i);
            while (ring.tail.load() != ring.head.load()) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
};

NodeMessage node_of(uint32_t id, const MemoryMessage& output = {}) {
    NodeMessage node;
    node.id = id;
    node.output = output;
    return node;
}

TEST_F(GraphRecording, LinksNodesToTheAllocationsAtTheirTime) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread main(program, 1, 100);
    SimulatedAllocator allocator(0);
    allocator.report_state(main, TIDEMARK_STATE_START);
    const uint64_t a = allocator.allocate(main, 1000), b = allocator.allocate(main, 2000);
    const auto first_a = allocator.allocation_id(a), first_b = allocator.allocation_id(b);
    NodeMessage first = node_of(1, allocator.memory(a));
    first.number = 41;
    first.stack = main.stack({{"forward", 12}, {"main", 3}}, 0xabc0);
    first.op = main.op(TIDEMARK_SCOPE_OP, "aten::mul", 0);
    first.saved = {main.saved("self", first.output, 1000), main.saved("other", allocator.memory(b), 512)};
    first.saved[1].offset = 64;
    first.saved[1].version = 3;
    first.saved[1].flags = TIDEMARK_SAVED_VIEW;
    main.node(first);
    allocator.free(main, b);
    allocator.free(main, a);
    ASSERT_EQ(a, allocator.allocate(main, 1000)) << "the address must be reused immediately";
    NodeMessage second = node_of(2, allocator.memory(a));
    second.type = "AddBackward0";
    second.edges = {{1, 0, 0}, {0, 1, 0}, {1, 2, 7}};
    second.saved = {main.saved("result", second.output, 1000), main.saved("on the host", {}, 8)};
    second.saved[1].flags = TIDEMARK_SAVED_PACKED;
    main.node(second);
    main.node_run(2, true);
    main.node_run(1, false);
    main.node_destroyed(2);
    main.name_module(0xabc0, "encoder.0");
    main.end(TIDEMARK_END_STOPPED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished)) << program.failure();

    const auto second_a = allocator.allocation_id(a);
    ASSERT_NE(first_a, second_a);
    EXPECT_EQ((Rows{fmt::format("1|MulBackward0|41|aten::mul|encoder.0|{}|executed", first_a),
                    fmt::format("2|AddBackward0|0|NULL|NULL|{}|destroyed", second_a)}),
              rows("SELECT id, type, sequence, op, module, output, state FROM nodes ORDER BY id"));
    EXPECT_EQ((Rows{"1|1|NULL|NULL", "1|1|1|1"}),
              rows("SELECT created_time > 0, executed_time >= created_time, released_time = executed_time, "
                   "destroyed_time >= executed_time FROM nodes ORDER BY id"));
    EXPECT_EQ((Rows{"forward|12", "main|3"}),
              rows("SELECT function, line FROM stacks WHERE id = (SELECT stack FROM nodes WHERE id = 1)"));
    EXPECT_EQ((Rows{"2|0|1|0", "2|2|1|7"}), rows("SELECT * FROM autograd_edge"));
    EXPECT_EQ((Rows{fmt::format("1|self|{}|0|1000|0|0|0", first_a), fmt::format("1|other|{}|64|512|3|1|0", first_b),
                    fmt::format("2|result|{}|0|1000|0|0|0", second_a), "2|on the host|NULL|0|8|0|0|1"}),
              rows("SELECT node, name, allocation, byte_offset, bytes, version, is_view, is_packed FROM saved_tensors "
                   "ORDER BY id"));
    EXPECT_EQ(Rows{}, meta("graph.memory_not_found"));
    EXPECT_EQ(Rows{}, meta("graph.nodes_left_out"));
}

TEST_F(GraphRecording, AcceptsMessagesOfOtherRingsInAnyOrder) {
    SimulatedProgram program({});
    // Rings are read in turn, starting with the first: messages in `early` are read before earlier messages of `late`.
    SimulatedThread early(program, 1, 100), late(program, 2, 200);
    SimulatedAllocator allocator(0);
    allocator.report_state(late, TIDEMARK_STATE_START);
    const uint64_t a = allocator.allocate(late, 1000);
    const auto first = allocator.allocation_id(a);
    const MemoryMessage first_memory = allocator.memory(a);
    allocator.free(late, a);
    ASSERT_EQ(a, allocator.allocate(late, 1000));
    const auto second = allocator.allocation_id(a);
    const MemoryMessage second_memory = allocator.memory(a);
    allocator.free(late, a);
    ASSERT_EQ(a, allocator.allocate(late, 1000));

    NodeMessage before_its_events = node_of(1, first_memory);  // its events are read later
    before_its_events.stack = 1;                               // the first stack that `late` defines
    before_its_events.stack_thread = 2;
    early.node(before_its_events);
    early.node_run(2, true);  // executed and destroyed before it was created
    early.node_destroyed(2);
    early.node_destroyed(77);  // created in a lost message
    early.node_destroyed(1);
    late.stack({{"forward", 12}, {"main", 3}});
    NodeMessage after_its_events = node_of(2, first_memory);  // its events were read already
    after_its_events.saved = {late.saved("self", second_memory, 1000)};
    after_its_events.output.sequence = second_memory.sequence;
    late.node(after_its_events);
    NodeMessage third = node_of(3, first_memory);
    late.node(third);
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    wait_until_written(program);
    late.end(TIDEMARK_END_STOPPED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished)) << program.failure();
    EXPECT_EQ((Rows{fmt::format("1|{}|destroyed|0", first), fmt::format("2|{}|destroyed|1", second),
                    fmt::format("3|{}|never_executed|0", first)}),
              rows("SELECT id, output, state, released_time IS NOT NULL FROM nodes ORDER BY id"));
    EXPECT_EQ((Rows{fmt::format("2|{}", second)}), rows("SELECT node, allocation FROM saved_tensors"));
    EXPECT_EQ((Rows{"forward"}),
              rows("SELECT function FROM stacks WHERE depth = 0 AND id = (SELECT stack FROM nodes WHERE id = 1)"));
}

/// The expected content of the trace, as rows of a query.
struct ExpectedRows {
    std::string node;
    Rows saved;
};

TEST_F(GraphRecording, RecordsGraphsOfManyThreads) {
    for (const bool is_filled_before : {false, true}) {
        SCOPED_TRACE(is_filled_before);
        fs::remove(output_);
        SimulatedProgram program({});
        if (!is_filled_before) {
            ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
        }
        SimulatedThread threads[] = {SimulatedThread(program, 1, 100), SimulatedThread(program, 2, 200),
                                     SimulatedThread(program, 3, 300)};
        SimulatedAllocator allocators[] = {SimulatedAllocator(0), SimulatedAllocator(1)};
        for (SimulatedAllocator& allocator : allocators) {
            allocator.report_state(threads[0], TIDEMARK_STATE_START);
        }
        std::mt19937 random(is_filled_before);
        std::array<std::vector<uint64_t>, 2> alive;
        std::map<uint32_t, ExpectedRows> expected_rows;
        const auto any_thread = [&]() -> SimulatedThread& { return threads[random() % 3]; };
        for (uint32_t id = 1; id <= 3000; ++id) {
            const size_t d = random() % 2;  // both devices have the same addresses
            SimulatedAllocator& allocator = allocators[d];
            alive[d].push_back(allocator.allocate(any_thread(), 1 + random() % 4000));
            while (alive[d].size() > 6) {
                std::swap(alive[d][random() % alive[d].size()], alive[d].back());
                allocator.free(any_thread(), alive[d].back());
                alive[d].pop_back();
            }
            SimulatedThread& thread = any_thread();
            const uint64_t address = alive[d].back();
            NodeMessage node = node_of(id, allocator.memory(address));
            ExpectedRows& expected = expected_rows[id];
            const int64_t output = allocator.allocation_id(address);
            for (size_t i = random() % 4; i > 0; --i) {
                const uint64_t saved_address = alive[d][random() % alive[d].size()];
                node.saved.push_back(thread.saved("self", allocator.memory(saved_address), 10 + i));
                expected.saved.push_back(fmt::format("{}|{}|{}", id, allocator.allocation_id(saved_address), 10 + i));
            }
            thread.node(node);
            const bool runs = random() % 2, releases = runs && random() % 2, is_destroyed = random() % 3 != 0;
            if (runs) {
                any_thread().node_run(id, releases);
            }
            if (is_destroyed) {
                any_thread().node_destroyed(id);
            }
            expected.node = fmt::format("{}|{}|{:d}|{:d}|{:d}", id, output, runs, releases, is_destroyed);
        }
        if (is_filled_before) {
            ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
            wait_until_written(program);
        }
        threads[0].end(TIDEMARK_END_STOPPED);
        ASSERT_TRUE(program.wait_for(RecorderState::finished)) << program.failure();
        Rows nodes, saved;
        for (const auto& [id, expected] : expected_rows) {
            nodes.push_back(expected.node);
            saved.insert(saved.end(), expected.saved.begin(), expected.saved.end());
        }
        EXPECT_EQ(nodes, rows("SELECT id, output, executed_time IS NOT NULL, released_time IS NOT NULL, "
                              "destroyed_time IS NOT NULL FROM nodes ORDER BY id"));
        EXPECT_EQ(saved, rows("SELECT node, allocation, bytes FROM saved_tensor ORDER BY id"));
        EXPECT_EQ(Rows{}, meta("graph.memory_not_found"));
        EXPECT_EQ("", data_gaps_of(*opened()));
    }
}

TEST_F(GraphRecording, OmitsShortLivedNodesOfLargeGraphs) {
    constexpr uint32_t in_full = 100'000, short_lived = 5000;
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread main(program, 1, 100);
    SimulatedAllocator allocator(0);
    allocator.report_state(main, TIDEMARK_STATE_START);
    const MemoryMessage memory = allocator.memory(allocator.allocate(main, 1000));
    uint32_t id = 0;
    const auto add_short_lived_nodes = [&](uint32_t count) {
        for (uint32_t i = 0; i < count; ++i) {
            main.node(node_of(++id));
            main.node_destroyed(id);
        }
    };
    add_short_lived_nodes(in_full);
    const uint32_t long_lived = ++id;
    NodeMessage long_lived_node = node_of(long_lived, memory);
    long_lived_node.edges = {{1, 0, 0}, {long_lived + 1, 1, 0}};
    long_lived_node.saved = {main.saved("self", memory, 1000)};
    main.node(long_lived_node);
    add_short_lived_nodes(short_lived);
    const uint32_t sees_two_steps = ++id;
    main.node(node_of(sees_two_steps));
    main.step(0, false);
    add_short_lived_nodes(short_lived);
    main.step(1, false);
    main.node_destroyed(sees_two_steps);
    add_short_lived_nodes(short_lived);
    main.end(TIDEMARK_END_STOPPED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished, 120)) << program.failure();
    EXPECT_EQ((Rows{fmt::format("{}|{}", in_full + 2, in_full)}),
              rows(fmt::format("SELECT count(*), sum(id <= {}) FROM autograd_node", in_full)));
    EXPECT_EQ((Rows{fmt::format("{}|never_executed", long_lived), fmt::format("{}|destroyed", sees_two_steps)}),
              rows(fmt::format("SELECT id, state FROM nodes WHERE id > {} ORDER BY id", in_full)));
    EXPECT_EQ((Rows{"1", fmt::format("{}", long_lived + 1)}),
              rows("SELECT next_node FROM autograd_edge ORDER BY slot"));
    EXPECT_EQ((Rows{fmt::format("{}|self", long_lived)}), rows("SELECT node, name FROM saved_tensors"));
    EXPECT_EQ(Rows{std::to_string(3 * short_lived)}, meta("graph.nodes_left_out"));
}

TEST_F(GraphRecording, WritesNodesThatOutliveThoseOfSeveralSteps) {
    constexpr uint32_t in_full = 100'000, of_step = 100;
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread main(program, 1, 100);
    SimulatedAllocator allocator(0);
    allocator.report_state(main, TIDEMARK_STATE_START);
    uint32_t id = 0;
    const auto add_short_lived_nodes = [&](uint32_t count) {
        for (uint32_t i = 0; i < count; ++i) {
            main.node(node_of(++id));
            main.node_destroyed(id);
        }
    };
    add_short_lived_nodes(in_full);
    for (int64_t step = 0; step < 3; ++step) {
        add_short_lived_nodes(of_step);
        main.step(step, false);
    }
    const uint32_t short_lived = ++id, chained = ++id;  // after the last step
    main.node(node_of(short_lived));
    main.node(node_of(chained));
    add_short_lived_nodes(of_step);
    main.node_destroyed(short_lived);
    add_short_lived_nodes(5 * of_step);
    main.node_destroyed(chained);
    main.end(TIDEMARK_END_STOPPED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    EXPECT_EQ(Rows{std::to_string(chained)}, rows(fmt::format("SELECT id FROM nodes WHERE id > {}", in_full)));
}

TEST_F(GraphRecording, WritesLongLivedNodesDuringTheRun) {
    constexpr uint32_t in_full = 100'000;
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread main(program, 1, 100);
    SimulatedAllocator allocator(0);
    allocator.report_state(main, TIDEMARK_STATE_START);
    for (uint32_t id = 1; id <= in_full + 1; ++id) {
        main.node(node_of(id));
    }
    main.node(node_of(in_full + 2));
    main.node_destroyed(in_full + 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(2100));
    wait_until_written(program);
    EXPECT_EQ(Rows{std::to_string(in_full + 1)}, rows("SELECT max(id) FROM autograd_node"));
    main.node_run(in_full + 1, true);
    wait_until_written(program);
    EXPECT_EQ(Rows{"released"}, rows(fmt::format("SELECT state FROM nodes WHERE id = {}", in_full + 1)));
    main.end(TIDEMARK_END_STOPPED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    EXPECT_EQ(Rows{"1"}, meta("graph.nodes_left_out"));
}

TEST_F(GraphRecording, NamesVariablesAndTheirGradients) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread main(program, 1, 100), backward(program, 2, 200);
    SimulatedAllocator allocator(0);
    allocator.report_state(main, TIDEMARK_STATE_START);
    const uint64_t weight = allocator.allocate(main, 1000), bias = allocator.allocate(main, 10);
    const uint64_t gradient = allocator.allocate(main, 1000), other = allocator.allocate(main, 10);
    const MemoryMessage weight_memory = allocator.memory(weight), gradient_memory = allocator.memory(gradient);
    const auto accumulates = [&](uint32_t id, uint64_t identity, uint64_t address) {
        NodeMessage node = node_of(id, allocator.memory(address));
        node.type = "AccumulateGrad";
        node.number = identity;
        node.flags = TIDEMARK_NODE_ACCUMULATES;
        return node;
    };
    main.label(TIDEMARK_CATEGORY_PARAMETER, weight_memory, "layer.weight", 0x70);
    main.node(accumulates(1, 0x70, weight));
    main.node(accumulates(2, 0x80, bias));
    backward.node_run(1, true, gradient_memory);
    wait_until_written(program);
    EXPECT_EQ((Rows{"layer.weight", "NULL"}), rows("SELECT variable FROM nodes ORDER BY id"));
    main.label(TIDEMARK_CATEGORY_BUFFER, {}, "layer.bias", 0x80);  // named later, without memory
    main.label(TIDEMARK_CATEGORY_PARAMETER, weight_memory, "layer.weight", 0x70);
    backward.node_run(1, true, gradient_memory);
    wait_until_written(program);
    backward.node_run(2, true, allocator.memory(other));
    main.label(TIDEMARK_CATEGORY_NONE, weight_memory);
    main.label(TIDEMARK_CATEGORY_PARAMETER, weight_memory, "layer.weight", 0x70);
    main.label(99, weight_memory, "of the future");
    main.node_destroyed(1);
    NodeMessage again = accumulates(3, 0x70, weight);
    again.flags |= TIDEMARK_NODE_LATE;
    again.op = main.op(TIDEMARK_SCOPE_OP, "aten::mul", 0);
    main.node(again);
    main.end(TIDEMARK_END_STOPPED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished)) << program.failure();
    const auto weight_id = allocator.allocation_id(weight);
    EXPECT_EQ((Rows{fmt::format("1|layer.weight|{}|NULL|1", weight_id),
                    fmt::format("2|layer.bias|{}|NULL|1", allocator.allocation_id(bias)),
                    fmt::format("3|layer.weight|{}|NULL|0", weight_id)}),
              rows("SELECT id, variable, output, sequence, created_time IS NOT NULL FROM nodes ORDER BY id"));
    EXPECT_EQ(Rows{"aten::mul"}, rows("SELECT op FROM nodes WHERE id = 3")) << "known, although it was found late";
    EXPECT_EQ((Rows{fmt::format("{}|gradient|layer.weight", allocator.allocation_id(gradient)),
                    fmt::format("{}|gradient|layer.bias", allocator.allocation_id(other))}),
              rows("SELECT allocation, category, text FROM allocation_category c LEFT JOIN string ON string.id = name "
                   "WHERE category = 'gradient' ORDER BY c.id"));
    EXPECT_EQ((Rows{"parameter|layer.weight", "unknown|NULL", "parameter|layer.weight"}),
              rows(fmt::format("SELECT category, text FROM allocation_category c LEFT JOIN string ON string.id = name "
                               "WHERE allocation = {} ORDER BY c.id",
                               weight_id)));
}

TEST_F(GraphRecording, RecordsReferrers) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread main(program, 1, 100), other(program, 2, 200);
    SimulatedAllocator allocator(0);
    allocator.report_state(main, TIDEMARK_STATE_START);
    const uint64_t loss = allocator.allocate(main, 4);
    other.referrer(9, {}, {{"local", "no scan of this thread", "", "", 0}});
    main.heap_scan("end", 1000, 12);
    main.referrer(5, allocator.memory(loss),
                  {{"local", "losses", "train", "/home/anna/train.py", 31}, {"index", "[3]", "", "", 0}});
    main.referrer(0, {}, {});
    main.end(TIDEMARK_END_STOPPED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished)) << program.failure();
    EXPECT_EQ((Rows{"1|end|5000000|1000|12"}), rows("SELECT id, reason, duration, objects, tensors FROM heap_scan"));
    EXPECT_EQ((Rows{fmt::format("1|5|{}", allocator.allocation_id(loss)), "1|NULL|NULL"}),
              rows("SELECT scan, node, allocation FROM referrer ORDER BY id"));
    EXPECT_EQ((Rows{"1|0|local|losses|train|/home/anna/train.py|31", "1|1|index|[3]|NULL|NULL|NULL"}),
              rows("SELECT referrer, position, kind, name.text, function.text, file.text, line FROM path_link "
                   "LEFT JOIN string name ON name.id = name LEFT JOIN string function ON function.id = function "
                   "LEFT JOIN string file ON file.id = file"));
}

TEST_F(GraphRecording, IgnoresInvalidReferencesInMessages) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread main(program, 1, 100);
    SimulatedAllocator allocator(0);
    allocator.report_state(main, TIDEMARK_STATE_START);
    const MemoryMessage memory = allocator.memory(allocator.allocate(main, 1000));
    const auto push_invalid_node = [&](uint32_t id, uint16_t edges, uint16_t saved, const std::string& payload) {
        tidemark_record record = record_of(TIDEMARK_NODE);
        record.node.id = id;
        record.node.edges = edges;
        record.node.saved = saved;
        record.node.type = 12345;
        record.node.stack = 777;
        record.node.stack_thread = 99;
        record.node.op = 4'000'000'000u;
        record.node.number = UINT64_MAX;
        main.push(record, payload.data(), static_cast<uint32_t>(payload.size()));
    };
    push_invalid_node(1, 65535, 65535, "");
    push_invalid_node(2, 65535, 65535, std::string(41, '\x7f'));
    push_invalid_node(3, 0, 65535, std::string(100, '\xff'));
    push_invalid_node(4, 2, 1, std::string(8, '\x01') + std::string(8, '\x01'));  // the same slot twice
    push_invalid_node(0, 0, 0, "");
    push_invalid_node(1, 0, 0, "");  // created twice
    for (uint32_t id = 1000; id < 201'000; ++id) {
        main.node_run(id, true);
        main.node_destroyed(id);
    }
    main.node(node_of(5, {0, memory.address, uint64_t{1} << 60}));      // after the last event
    main.node(node_of(6, {0, memory.address + 512, memory.sequence}));  // inside a block
    main.node(node_of(7, {0, memory.address, memory.sequence - 1}));    // before its allocation
    main.node(node_of(8, {200, memory.address, 0}));                    // on an unknown device
    main.node(node_of(0xfffffff0u));  // the id is corrupt: later nodes are not too late
    main.heap_scan("asked", 1, 1);
    tidemark_record referrer = record_of(TIDEMARK_REFERRER);
    main.push(referrer, "local\0x\0f\0file\0 12\0global\0y", 28);
    wait_until_written(program);
    main.node(node_of(9, memory));
    main.end(TIDEMARK_END_STOPPED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished, 60)) << program.failure();
    ASSERT_TRUE(opened());
    EXPECT_EQ(Rows{"1,2,3,4,5,6,7,8,9"}, rows("SELECT group_concat(id) FROM (SELECT id FROM nodes ORDER BY id)"));
    EXPECT_EQ((Rows{"1|NULL|NULL|NULL"}), rows("SELECT id, type, sequence, stack FROM nodes WHERE id = 1"));
    EXPECT_EQ((Rows{"2|1", "4|1"}), rows("SELECT node, count(*) FROM autograd_edge GROUP BY node")) << "one per slot";
    EXPECT_EQ((Rows{"3|3"}), rows("SELECT node, count(*) FROM saved_tensor WHERE bytes = 0 GROUP BY node"));
    EXPECT_EQ(Rows{"5,9"}, rows("SELECT group_concat(id) FROM (SELECT id FROM nodes WHERE output IS NOT NULL "
                                "ORDER BY id)"));
    EXPECT_EQ(Rows{"3"}, meta("graph.memory_not_found"));
    EXPECT_EQ(Rows{"local"}, rows("SELECT kind FROM path_link"));
}

TEST_F(GraphRecording, KeepsAllNodesOfAKilledProgram) {
    SimulatedProgram program({});
    void* shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto* reported = new (shared) std::atomic<bool>(false);
    const pid_t child = fork();
    if (child == 0) {
        SimulatedThread main(program, 1, 100);
        SimulatedAllocator allocator(0);
        allocator.report_state(main, TIDEMARK_STATE_START);
        for (uint32_t id = 1; id <= 50; ++id) {
            main.node(node_of(id, allocator.memory(allocator.allocate(main, 1000))));
        }
        reported->store(true);
        pause();
    }
    ASSERT_TRUE(program.start_recorder(output_, child)) << program.failure();
    while (!reported->load()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    munmap(shared, 4096);
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    EXPECT_EQ(Rows{"50|50"}, rows("SELECT count(*), count(DISTINCT output) FROM nodes WHERE state = 'never_executed'"));
}

TEST_F(GraphRecording, KeepsCommittedNodesIfTheRecorderIsKilled) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread main(program, 1, 100);
    SimulatedAllocator allocator(0);
    allocator.report_state(main, TIDEMARK_STATE_START);
    for (uint32_t id = 1; id <= 50; ++id) {
        main.node(node_of(id, allocator.memory(allocator.allocate(main, 1000))));
    }
    wait_until_written(program);
    kill(program.recorder_pid(output_), SIGKILL);
    ASSERT_TRUE(opened());
    EXPECT_EQ(Rows{"50|50"}, rows("SELECT count(*), count(DISTINCT output) FROM nodes WHERE state = 'never_executed'"));
}

}  // namespace
}  // namespace tidemark::test
