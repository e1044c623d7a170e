// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The recorder process on simulated programs: the trace must equal the program's events, or report the difference.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "storage/analysis/analysis.h"
#include "storage/read/follow.h"
#include "tests/recorder/recording_fixture.h"
#include "tests/recorder/simulated_program.h"

namespace tidemark::test {
namespace {

TEST_F(Recording, MatchesTheEventsOfTheProgram) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread main(program, 1, 100);
    SimulatedAllocator allocator(0);
    Traffic traffic(allocator, main, 1);
    traffic.run(300);  // before the recording
    main.meta("max_split_size", "-1");
    main.device(0, "NVIDIA Simulated", uint64_t{80} << 30);
    allocator.report_state(main, TIDEMARK_STATE_START);
    traffic.run(20'000);
    allocator.report_state(main, TIDEMARK_STATE_CHECK);
    traffic.run(1000);
    allocator.empty_cache(main);
    main.end(TIDEMARK_END_STOPPED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished)) << program.failure();

    const auto trace = opened();
    ASSERT_TRUE(trace);
    EXPECT_EQ("", data_gaps_of(*trace));
    EXPECT_TRUE(trace->clean_end);
    ASSERT_EQ(1u, trace->devices.size());
    const DeviceHistory& device = trace->devices[0];
    EXPECT_EQ("NVIDIA Simulated", device.name);
    EXPECT_EQ(allocator.events(), static_cast<uint64_t>(device.event_count()));
    expect_truth(allocator.truth(), device);
    expect_segments(allocator.truth(), device);
    EXPECT_FALSE(fs::exists(output_ + "-wal"));
    // The peak in the recorder's metadata must be the peak of the whole trace.
    const auto peak = rows("SELECT sum(block_bytes) FROM live_at_peak");
    EXPECT_EQ(std::to_string(allocator.peak_bytes()), peak.at(0));
    EXPECT_EQ(std::vector<std::string>{"1"}, rows("SELECT value FROM meta WHERE key='recorded.checks'"));
    // Chunks and rows must be consistent.
    const std::string chunks = "SELECT sum(count) FROM allocation_chunk";
    EXPECT_EQ(rows("SELECT count(*) FROM allocation"), rows(chunks));
}

TEST_F(Recording, SortsEventsOfManyThreads) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread main(program, 1, 100);
    SimulatedAllocator first(0), second(1);
    first.report_state(main, TIDEMARK_STATE_START);
    second.report_state(main, TIDEMARK_STATE_START);
    std::vector<std::thread> threads;
    for (uint16_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            SimulatedThread ring(program, static_cast<uint16_t>(2 + t), 200 + t);
            Traffic a(first, ring, 10u + t), b(second, ring, 20u + t);
            for (int i = 0; i < 50; ++i) {
                a.run(40);
                b.run(20);
            }
            a.free_all();
            ring.retire();
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    first.report_state(main, TIDEMARK_STATE_CHECK);
    main.end(TIDEMARK_END_EXITED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    const auto trace = opened();
    ASSERT_TRUE(trace);
    EXPECT_EQ("", data_gaps_of(*trace));
    ASSERT_EQ(2u, trace->devices.size());
    expect_truth(first.truth(), trace->devices[0]);
    expect_segments(first.truth(), trace->devices[0]);
    expect_truth(second.truth(), trace->devices[1]);
    expect_segments(second.truth(), trace->devices[1]);
    EXPECT_EQ(4u, rows("SELECT DISTINCT thread FROM origin WHERE thread BETWEEN 200 AND 203").size());
}

TEST_F(Recording, CanBeFollowedWhileItIsWritten) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid()));
    EXPECT_TRUE(is_being_written(output_));
    auto follower = TraceFollower::open(output_);
    ASSERT_TRUE(follower) << follower.error().sentence.english();
    SimulatedThread main(program, 1, 100);
    SimulatedAllocator first(0), second(1);
    Traffic a(first, main, 1), b(second, main, 2);
    first.report_state(main, TIDEMARK_STATE_START);
    second.report_state(main, TIDEMARK_STATE_START);
    Progress progress;
    std::shared_ptr<const Trace> latest;
    const auto poll = [&] {
        auto polled = follower->poll(progress);
        ASSERT_TRUE(polled) << polled.error().sentence.english();
        latest = *polled ? *polled : latest;
    };
    for (int i = 0; i < 20; ++i) {
        // The second device is used before the first.
        b.run(50);
        if (i >= 10) {
            a.run(50);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(40));
        ASSERT_NO_FATAL_FAILURE(poll());
    }
    main.end(TIDEMARK_END_STOPPED);
    for (int i = 0; i < 200 && !follower->ended(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ASSERT_NO_FATAL_FAILURE(poll());
    }
    EXPECT_TRUE(follower->ended());
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    ASSERT_TRUE(latest);
    EXPECT_EQ("", data_gaps_of(*latest));
    expect_truth(first.truth(), latest->devices.at(0));
    expect_truth(second.truth(), latest->devices.at(1));
    expect_truth(first.truth(), opened()->devices.at(0));
    EXPECT_FALSE(is_being_written(output_));
    EXPECT_FALSE(fs::exists(output_ + "-wal"));
}

TEST_F(Recording, ReusesRings) {
    SimulatedProgram program({2, 1024});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid()));
    SimulatedThread main(program, 1, 100);
    SimulatedAllocator allocator(0);
    allocator.report_state(main, TIDEMARK_STATE_START);
    for (uint16_t t = 0; t < 20; ++t) {
        std::thread([&] {
            while (program.region().ring(1).state.load() != recorder::RingState::free) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            SimulatedThread ring(program, static_cast<uint16_t>(2 + t), 200 + t);
            Traffic traffic(allocator, ring, t);
            traffic.run(100);
            traffic.free_all();
            ring.retire();
        }).join();
    }
    main.end(TIDEMARK_END_STOPPED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    const auto trace = opened();
    ASSERT_TRUE(trace);
    EXPECT_EQ("", data_gaps_of(*trace));
    expect_truth(allocator.truth(), trace->devices.at(0));
}

TEST_F(Recording, RecordsExpandableMemory) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid()));
    SimulatedThread main(program, 1, 100);
    SimulatedAllocator allocator(0, true);
    Traffic traffic(allocator, main, 3);
    traffic.run(200);
    allocator.report_state(main, TIDEMARK_STATE_START);
    traffic.run(5000);
    traffic.free_all();
    allocator.empty_cache(main);
    traffic.run(500);
    allocator.report_state(main, TIDEMARK_STATE_CHECK);
    main.end(TIDEMARK_END_STOPPED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    const auto trace = opened();
    ASSERT_TRUE(trace);
    EXPECT_EQ("", data_gaps_of(*trace));
    const DeviceHistory truth = allocator.truth(), &device = trace->devices.at(0);
    expect_truth(truth, device);
    // One row per piece; together they are the mapped memory.
    const auto mapped = [](const DeviceHistory& d, EventNumber n) {
        uint64_t bytes = 0;
        for (const Segment& s : d.segments) {
            bytes += s.alive_at(n) ? s.size : 0;
        }
        return bytes;
    };
    for (EventNumber n = 0; n <= device.event_count(); n += 100) {
        ASSERT_EQ(mapped(truth, n), mapped(device, n)) << n;
    }
    EXPECT_TRUE(std::is_sorted(device.segments.begin(), device.segments.end(),
                               [](const Segment& a, const Segment& b) { return a.alloc_event < b.alloc_event; }));
}

TEST_F(Recording, AcceptsLateDefinitionsOfOtherThreads) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid()));
    SimulatedThread main(program, 1, 100), backward(program, 2, 200);
    SimulatedAllocator allocator(0);
    allocator.report_state(main, TIDEMARK_STATE_START);
    EventContext context;
    context.stack = 1;  // the first stack that `main` will define
    context.stack_thread = 1;
    context.phase = TIDEMARK_PHASE_FIRST_NAMED;
    const uint32_t node = backward.op(TIDEMARK_SCOPE_OP, "autograd::engine::evaluate_function: MeanBackward0", 0);
    const uint32_t inner = backward.op(TIDEMARK_SCOPE_NODE, "MeanBackward0", node);
    const uint32_t range = backward.op(TIDEMARK_SCOPE_USER, "my range", inner);
    const uint32_t op = backward.op(TIDEMARK_SCOPE_OP, "aten::div", range);
    context.op = backward.op(TIDEMARK_SCOPE_OP, "aten::empty", op);
    allocator.allocate(backward, 1000, context);
    context.op = node;
    allocator.allocate(backward, 1000, context);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    main.stack({{"forward", 12}, {"main", 3}}, 0xabc0);
    tidemark_record phase = record_of(TIDEMARK_PHASE);
    phase.define.id = TIDEMARK_PHASE_FIRST_NAMED;
    main.push(phase, "warm-up", 7);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    main.name_module(0xabc0, "encoder.0.mlp");
    main.end(TIDEMARK_END_STOPPED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    const auto trace = opened();
    ASSERT_TRUE(trace);
    EXPECT_EQ("", data_gaps_of(*trace));
    const Allocations& a = trace->devices.at(0).allocations;
    ASSERT_EQ(2u, a.size());
    EXPECT_EQ("train.py:12 forward", describe_frame(trace->stacks, trace->stacks.frames_of(a.stack[0]).at(0)));
    const Origin& origin = trace->origins[a.origin[0]];
    EXPECT_EQ("MeanBackward0 > aten::div", origin.op);
    EXPECT_EQ("encoder.0.mlp", origin.module);
    EXPECT_EQ(Fact(Phase::named, "warm-up"), origin.phase);
    EXPECT_EQ(200, origin.thread);
    EXPECT_EQ("MeanBackward0", trace->origins[a.origin[1]].op);
}

TEST_F(Recording, ReportsAndAdoptsADifferentAllocatorState) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid()));
    SimulatedThread main(program, 1, 100), checker(program, 2, 200);
    SimulatedAllocator allocator(0);
    Traffic traffic(allocator, main, 4);
    allocator.report_state(main, TIDEMARK_STATE_START);
    traffic.run(500);
    allocator.report_state(checker, TIDEMARK_STATE_CHECK);
    traffic.run(500);
    allocator.report_wrong_state(checker);
    traffic.run(500);
    allocator.report_state(checker, TIDEMARK_STATE_CHECK);
    traffic.run(500);
    allocator.report_state(checker, TIDEMARK_STATE_CHECK);
    main.end(TIDEMARK_END_STOPPED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    const auto trace = opened();
    ASSERT_TRUE(trace);
    EXPECT_GE(data_gaps_of_kind(*trace, DataGapKind::state_disagrees), 1) << data_gaps_of(*trace);
    EXPECT_LE(data_gaps_of_kind(*trace, DataGapKind::state_disagrees), 2) << data_gaps_of(*trace);
    EXPECT_NE(std::string::npos, data_gaps_of(*trace).find("requested")) << data_gaps_of(*trace);
}

TEST_F(Recording, ReportsAndRepairsAnOverrun) {
    SimulatedProgram program({4, 1024});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid()));
    SimulatedThread main(program, 1, 100);
    SimulatedAllocator allocator(0);
    Traffic traffic(allocator, main, 5);
    allocator.report_state(main, TIDEMARK_STATE_START);
    traffic.run(100);
    const pid_t recorder = program.recorder_pid(output_);
    ASSERT_GT(recorder, 0);
    ASSERT_EQ(0, kill(recorder, SIGSTOP));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    allocator.set_patience(2);
    traffic.run(600);
    allocator.set_patience(-1);
    ASSERT_EQ(0, kill(recorder, SIGCONT));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ASSERT_GT(allocator.dropped(), 0);
    allocator.report_state(main, TIDEMARK_STATE_CHECK);
    traffic.run(300);
    allocator.report_state(main, TIDEMARK_STATE_CHECK);
    main.end(TIDEMARK_END_STOPPED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    const auto trace = opened();
    ASSERT_TRUE(trace);
    int64_t lost = 0;
    for (const DataGap& data_gap : trace->data_gaps) {
        lost += data_gap.kind == DataGapKind::recorder_overrun ? data_gap.count : 0;
    }
    EXPECT_EQ(allocator.dropped(), lost) << data_gaps_of(*trace);
    EXPECT_EQ(1, data_gaps_of_kind(*trace, DataGapKind::state_disagrees)) << data_gaps_of(*trace);
    // After the comparison, the state is PyTorch's: the alive allocations at the end must be exactly PyTorch's.
    const auto alive_at_end = [](const DeviceHistory& d) {
        std::map<uint64_t, std::pair<uint64_t, uint64_t>> alive;
        for (uint32_t i = 0; i < d.allocations.size(); ++i) {
            if (d.allocations.free_completed[i] == never) {
                alive[d.allocations.address[i]] = {d.allocations.requested[i], d.allocations.block_size[i]};
            }
        }
        return alive;
    };
    EXPECT_EQ(alive_at_end(allocator.truth()), alive_at_end(trace->devices.at(0)));
}

TEST_F(Recording, RecordsStepsMarksSpansSettingsAndDriverMemory) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid()));
    SimulatedThread main(program, 1, 100);
    main.meta("torch_version", "2.11.0");
    main.meta("expandable_segments", "false");
    SimulatedAllocator allocator(0);
    allocator.report_state(main, TIDEMARK_STATE_START);
    main.step(0, false);
    main.step(1, false);
    main.step(7, true);
    main.step(3, false);
    main.step(8, true);
    tidemark_record mark = record_of(TIDEMARK_MARK);
    mark.mark.value = 0.5;
    mark.mark.has_value = 1;
    mark.mark.devices = 1;
    const uint64_t sequence = 2;
    std::string payload(reinterpret_cast<const char*>(&sequence), sizeof sequence);
    payload += "epoch 1";
    main.push(mark, payload.data(), static_cast<uint32_t>(payload.size()));
    tidemark_record span = record_of(TIDEMARK_SPAN, 0);
    span.span.text = main.text("attention");
    main.push(span);
    main.push(record_of(TIDEMARK_SPAN, TIDEMARK_SPAN_ENDS));
    span = record_of(TIDEMARK_SPAN, TIDEMARK_SPAN_OF_RANKS_BEGINS);
    span.span.text = main.text("barrier 0");
    main.push(span);
    main.push(record_of(TIDEMARK_SPAN, TIDEMARK_SPAN_ENDS));
    tidemark_record rank = record_of(TIDEMARK_RANK);
    rank.rank = {3, 8};
    main.push(rank);
    main.push(record_of(TIDEMARK_DATA_GAP, static_cast<int>(DataGapKind::not_recorded)),
              "graph_failed\0no ops: why not", 28);
    const auto driver = [&](int action, int memory, uint64_t address, uint64_t size, uint64_t handle = 0) {
        tidemark_record record = record_of(TIDEMARK_DRIVER, action);
        record.driver.memory = static_cast<uint8_t>(memory);
        record.driver.address = address;
        record.driver.size = size;
        record.driver.handle = handle;
        record.driver.source = static_cast<uint16_t>(main.text("libcublas.so.13"));
        main.push(record);
    };
    driver(TIDEMARK_DRIVER_CAPTURE_ON, 0, 0, 0);
    driver(TIDEMARK_DRIVER_ALLOC, TIDEMARK_MEMORY_DEVICE, 0x7f0000000000, 2 << 20);  // in the later segment
    allocator.allocate(main, 1000);
    driver(TIDEMARK_DRIVER_ALLOC, TIDEMARK_MEMORY_DEVICE, 0x5000, 4096);
    driver(TIDEMARK_DRIVER_FREE, TIDEMARK_MEMORY_DEVICE, 0x5000, 0);
    driver(TIDEMARK_DRIVER_ALLOC, TIDEMARK_MEMORY_POOL, 0x77, 1000);
    driver(TIDEMARK_DRIVER_ALLOC, TIDEMARK_MEMORY_POOL, 0x77, 500);
    driver(TIDEMARK_DRIVER_CAPTURE_OFF, 0, 0, 0);
    main.end(TIDEMARK_END_EXCEPTION, "ValueError: no");
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    const auto trace = opened();
    ASSERT_TRUE(trace);
    using Rows = std::vector<std::string>;
    EXPECT_EQ((Rows{"0|user", "1|user"}), rows("SELECT number, source FROM step ORDER BY id"));
    EXPECT_EQ((Rows{"epoch 1|0.5|2"}), rows("SELECT name, value, events FROM mark JOIN mark_event ON mark=id"));
    EXPECT_EQ((Rows{"attention|user|1", "barrier 0|collective|1"}),
              rows("SELECT name, kind, end_time >= start_time FROM annotation"));
    EXPECT_EQ((Rows{"false"}), rows("SELECT value FROM meta WHERE key='setting.expandable_segments'"));
    EXPECT_EQ((Rows{"2.11.0"}), rows("SELECT value FROM meta WHERE key='recorded.torch_version'"));
    EXPECT_EQ((Rows{"device|2097152|1|NULL|libcublas.so.13", "device|4096|NULL|1|libcublas.so.13",
                    "pool|1000|NULL|1|libcublas.so.13", "pool|1500|NULL|NULL|libcublas.so.13"}),
              rows("SELECT kind, bytes, segment, free_time >= time, text FROM driver_allocation LEFT JOIN string ON "
                   "string.id = source ORDER BY driver_allocation.id"));
    EXPECT_EQ((Rows{"exception: ValueError: no|1"}), rows("SELECT how_ended, end_time > 0 FROM process"));
    EXPECT_EQ((Rows{"3|8"}), rows("SELECT rank, world_size FROM process"));
    EXPECT_NE(std::string::npos, data_gaps_of(*trace).find("no ops: why not"));
    EXPECT_NE(std::string::npos, data_gaps_of(*trace).find("another tool used CUPTI"));
}

}  // namespace
}  // namespace tidemark::test
