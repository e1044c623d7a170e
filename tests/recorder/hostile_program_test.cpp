// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The recorder process on programs that send damaged records: the trace can always be read, and says what is missing.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>

#include "recorder/daemon/event_numbering.h"
#include "recorder/daemon/ring_reader.h"
#include "storage/base/descriptor.h"
#include "storage/trace/limits.h"
#include "tests/recorder/recording_fixture.h"
#include "tests/recorder/simulated_program.h"

namespace tidemark::test {
namespace {

using recorder::EventNumbering;
using recorder::RingHeader;

constexpr uint64_t million = 1'000'000;

tidemark_record allocation(uint8_t device, uint64_t sequence, uint64_t size = 512) {
    tidemark_record record = record_of(TIDEMARK_EVENT, static_cast<int>(Action::alloc));
    record.event.device = device;
    record.event.sequence = sequence;
    record.event.address = 0x7f0000000000 + sequence * 4096;
    record.event.size = size;
    return record;
}

int64_t events_of(const Trace& trace) {
    return std::accumulate(trace.devices.begin(), trace.devices.end(), int64_t{0},
                           [](int64_t sum, const DeviceHistory& device) { return sum + device.event_count(); });
}

class HostileProgram : public Recording {
protected:
    /// Ends the recording and opens the trace.
    std::shared_ptr<const Trace> recorded(SimulatedProgram& program, SimulatedThread& thread) {
        thread.device(0, "NVIDIA Simulated", uint64_t{80} << 30);
        thread.end(TIDEMARK_END_STOPPED);
        EXPECT_TRUE(program.wait_for(RecorderState::finished)) << program.failure();
        return opened();
    }
    int64_t bytes() const { return static_cast<int64_t>(fs::file_size(output_)); }
    static const DataGap* gap(const Trace& trace, DataGapReason reason) {
        const auto found = std::find_if(trace.data_gaps.begin(), trace.data_gaps.end(),
                                        [&](const DataGap& data_gap) { return data_gap.reason == reason; });
        return found == trace.data_gaps.end() ? nullptr : &*found;
    }
};

TEST(EventNumbering, LeavesOutRanges) {
    EventNumbering numbering;
    EXPECT_EQ(numbering.number_of(7), 7u);
    numbering.leave_out(100, 90);  // 10 to 99
    numbering.leave_out(1000, 500);
    EXPECT_EQ(numbering.number_of(9), 9u);
    EXPECT_EQ(numbering.number_of(10), 10u);
    EXPECT_EQ(numbering.number_of(99), 10u);
    EXPECT_EQ(numbering.number_of(100), 10u);
    EXPECT_EQ(numbering.number_of(499), 409u);
    EXPECT_EQ(numbering.number_of(999), 410u);
    EXPECT_EQ(numbering.number_of(1001), 411u);
    EXPECT_EQ(numbering.left_out(), 590u);
}

TEST(EventNumbering, AddsNumbersThatWereLeftOutBefore) {
    EventNumbering numbering;
    numbering.leave_out(200, 100);
    numbering.leave_out(300, 100);  // follows: one range
    EXPECT_EQ(numbering.number_of(250), 100u);
    EXPECT_EQ(numbering.number_of(301), 101u);
    numbering.add(300, 30);
    EXPECT_EQ(numbering.number_of(99), 99u);
    EXPECT_EQ(numbering.number_of(250), 100u);
    EXPECT_EQ(numbering.number_of(301), 131u);
    numbering.leave_out(400, 100);
    EXPECT_EQ(numbering.number_of(400), 130u);
    EXPECT_EQ(numbering.left_out(), 270u);
    for (uint64_t at = 500; at < 300'000'000; at += 1000) {
        numbering.leave_out(at + 900, 900);
    }
    EXPECT_EQ(numbering.number_of(300'001'000), 300'001'000 - numbering.left_out());
}

TEST_F(HostileProgram, AnEmptyTraceJustifiesTheNumbersThatItsBudgetAllows) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread thread(program, 1, 100);
    ASSERT_TRUE(recorded(program, thread));
    EXPECT_GE(most_events_in(bytes()), static_cast<int64_t>(recorder::NumberBudget().left()));
}

TEST_F(HostileProgram, EveryEventTakesMoreOfTheFileThanItsBudgetAllows) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread thread(program, 1, 100);
    SimulatedAllocator(0).report_state(thread, TIDEMARK_STATE_START);
    constexpr uint64_t events = 90'000;
    recorder::NumberBudget budget;
    for (uint64_t sequence = 0; sequence < events; ++sequence) {
        tidemark_record event = allocation(0, sequence);
        event.detail = static_cast<uint8_t>(sequence % 3 == 0   ? Action::alloc
                                            : sequence % 3 == 1 ? Action::free_requested
                                                                : Action::free_completed);
        event.event.address = 4096;
        thread.push(event);
        budget.on_event();
    }
    const auto trace = recorded(program, thread);
    ASSERT_TRUE(trace);
    ASSERT_EQ(events_of(*trace), static_cast<int64_t>(events));
    EXPECT_GT(most_events_in(bytes()), static_cast<int64_t>(events + budget.left()));
}

TEST_F(HostileProgram, JumpsOfTheSequenceAreLeftOut) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread thread(program, 1, 100);
    SimulatedAllocator(0).report_state(thread, TIDEMARK_STATE_START);
    for (const uint64_t sequence : {uint64_t{0}, 5 * million, 100 * million, 100 * million + 1}) {
        thread.push(allocation(0, sequence));
    }
    const auto trace = recorded(program, thread);
    ASSERT_TRUE(trace);
    EXPECT_LE(events_of(*trace), most_events_in(bytes()));
    ASSERT_EQ(trace->devices.at(0).allocations.size(), 4u);
    const DataGap* left_out = gap(*trace, DataGapReason::numbers_left_out);
    ASSERT_NE(left_out, nullptr);
    EXPECT_TRUE(gap(*trace, DataGapReason::events_dropped));
    // The events that arrived have the numbers after the last one that the trace can have.
    const auto& events = trace->devices[0].allocations.alloc_event;
    EXPECT_EQ(events.back(), events[2] + 1);
}

TEST_F(HostileProgram, MarksAndQuestionsFollowTheNumbers) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread thread(program, 1, 100);
    SimulatedAllocator(0).report_state(thread, TIDEMARK_STATE_START);
    thread.push(allocation(0, 0));
    thread.push(allocation(0, 20 * million));
    NodeMessage node;
    node.id = 1;
    node.output = {0, allocation(0, 20 * million).event.address, 20 * million + 1};
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));  // until the recorder skips the missing events
    tidemark_record mark = record_of(TIDEMARK_MARK);
    mark.mark.devices = 1;
    const uint64_t sequence = 20 * million + 1;
    thread.push(mark, &sequence, sizeof sequence);
    thread.node(node);
    const auto trace = recorded(program, thread);
    ASSERT_TRUE(trace);
    ASSERT_EQ(trace->marks.size(), 1u);
    EXPECT_EQ(trace->marks[0].events.at(0), trace->devices.at(0).event_count());
    EXPECT_EQ(rows("SELECT count(*) FROM autograd_node JOIN allocation ON autograd_node.output = allocation.id"),
              std::vector<std::string>{"1"});
}

TEST_F(HostileProgram, MoreDevicesThanATraceCanHave) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread thread(program, 1, 100);
    for (uint8_t device = 0; device < 200; ++device) {
        thread.push(allocation(device, (device + 1) * million));
    }
    const auto trace = recorded(program, thread);
    ASSERT_TRUE(trace);
    EXPECT_EQ(trace->devices.size(), size_t{max_devices});
    EXPECT_LE(events_of(*trace), most_events_in(bytes()));
    ASSERT_NE(gap(*trace, DataGapReason::devices_left_out), nullptr);
    EXPECT_EQ(gap(*trace, DataGapReason::devices_left_out)->count, 200 - max_devices);
}

TEST_F(HostileProgram, LongTextsAreCut) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread thread(program, 1, 100);
    const std::string text(1 << 20, 'x');
    SimulatedAllocator(0).report_state(thread, TIDEMARK_STATE_START);
    EventContext context;
    context.op = thread.op(TIDEMARK_SCOPE_OP, text, 0);
    context.stack = thread.stack({{text + "f", 1}});
    thread.meta("long", text);
    thread.device(0, text, 1);
    thread.heap_scan("end", 1, 1);
    thread.referrer(0, {}, {{"local", text, text, text, 1}});
    tidemark_record event = allocation(0, 0);
    event.event.op = context.op;
    event.event.stack = context.stack;
    thread.push(event, text.data(), static_cast<uint32_t>(text.size()));
    const std::string details = std::string("attach_failed") + '\0' + std::string(1 << 20, '\x01');
    thread.push(record_of(TIDEMARK_DATA_GAP, 10), details.data(), static_cast<uint32_t>(details.size()));
    const auto trace = recorded(program, thread);
    ASSERT_TRUE(trace);
    ASSERT_NE(gap(*trace, DataGapReason::texts_cut), nullptr);
    EXPECT_GE(gap(*trace, DataGapReason::texts_cut)->count, 8);
    EXPECT_EQ(rows("SELECT max(length(text)) FROM string"), std::vector<std::string>{std::to_string(most_text_bytes)});
    EXPECT_LT(bytes(), 2 << 20);
    // The reader ignores arguments beyond its limit; these must be within it.
    ASSERT_NE(gap(*trace, DataGapReason::attach_failed), nullptr);
    EXPECT_EQ(gap(*trace, DataGapReason::attach_failed)->argument("details").size(), most_bytes_of_details);
}

TEST_F(HostileProgram, ImpossibleTimesAreReplaced) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread thread(program, 1, 100);
    SimulatedAllocator(0).report_state(thread, TIDEMARK_STATE_START);
    uint64_t sequence = 0;
    for (const uint64_t ticks : {uint64_t{1}, uint64_t{1} << 63, UINT64_MAX, recorder::ticks() + (uint64_t{1} << 45)}) {
        tidemark_record record = allocation(0, sequence++);
        record.ticks = ticks;
        ASSERT_TRUE(recorder::try_push(thread.header(), program.region().slots(0),
                                       program.region().header().ring_capacity, record, nullptr));
    }
    const auto trace = recorded(program, thread);
    ASSERT_TRUE(trace);
    ASSERT_NE(gap(*trace, DataGapReason::times_refused), nullptr);
    EXPECT_EQ(gap(*trace, DataGapReason::times_refused)->count, 4);
    constexpr int64_t minute = 60'000'000'000;
    EXPECT_LT(trace->duration, minute);
    EXPECT_LT(trace->devices.at(0).event_time.back(), minute);
    EXPECT_TRUE(std::is_sorted(trace->devices[0].event_time.begin(), trace->devices[0].event_time.end()));
}

/// Returns a value that is likely to be at a limit.
uint64_t odd_value(std::mt19937_64& random) {
    constexpr uint64_t limits[] = {0,
                                   1,
                                   2,
                                   255,
                                   256,
                                   4096,
                                   UINT16_MAX,
                                   UINT32_MAX,
                                   INT32_MAX,
                                   uint64_t{1} << 27,
                                   largest_size,
                                   largest_size + 1,
                                   INT64_MAX,
                                   uint64_t{1} << 63,
                                   UINT64_MAX};
    const uint64_t any = random();
    return any % 3 == 0 ? limits[any / 3 % std::size(limits)] : any % 3 == 1 ? any / 3 % 40 : any;
}

tidemark_record odd_record(std::mt19937_64& random) {
    tidemark_record record = record_of(static_cast<int>(random() % 25), static_cast<int>(random() % 12));
    for (size_t at = 0; at < sizeof record.raw;) {
        const size_t size = size_t{1} << random() % 4;
        const uint64_t value = odd_value(random);
        std::memcpy(record.raw + at / size * size, &value, std::min(size, sizeof record.raw - at / size * size));
        at += size;
    }
    if (random() % 8 == 0) {
        record.ticks = odd_value(random);
    }
    return record;
}

class GarbageFromAProgram : public HostileProgram, public testing::WithParamInterface<uint32_t> {};

TEST_P(GarbageFromAProgram, StillMakesAReadableTrace) {
    std::mt19937_64 random(GetParam());
    SimulatedProgram program({8, 1 << 12});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread thread(program, 1, 100);
    SimulatedAllocator(0).report_state(thread, TIDEMARK_STATE_START);
    for (int i = 0; i < 3000; ++i) {
        tidemark_record record = odd_record(random);
        if (record.kind == TIDEMARK_END) {
            continue;
        }
        std::string payload(random() % 4 == 0 ? random() % 700 : 0, '\0');
        std::generate(payload.begin(), payload.end(), [&] { return static_cast<char>(random()); });
        record.extra = static_cast<uint16_t>((payload.size() + 63) / 64);
        record.bytes = static_cast<uint32_t>(payload.size());
        record.ticks = record.ticks == 0 ? recorder::ticks() : record.ticks;
        while (!recorder::try_push(thread.header(), program.region().slots(0), program.region().header().ring_capacity,
                                   record, payload.data())) {
            ASSERT_EQ(program.region().header().recorder_state.load(), RecorderState::ready);
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    }
    const auto trace = recorded(program, thread);
    ASSERT_TRUE(trace);
    EXPECT_TRUE(trace->clean_end);
    EXPECT_LE(events_of(*trace), most_events_in(bytes()));
}

TEST_P(GarbageFromAProgram, InItsRingsIsSkipped) {
    std::mt19937_64 random(GetParam());
    SimulatedProgram program({8, 1 << 12});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread thread(program, 1, 100);
    SimulatedThread broken(program, 2, 200);
    auto* slots = reinterpret_cast<uint64_t*>(program.region().slots(1));
    const uint64_t capacity = program.region().header().ring_capacity;
    for (int round = 0; round < 5; ++round) {
        for (uint64_t i = 0; i < capacity * sizeof(tidemark_record) / sizeof *slots; ++i) {
            slots[i] = random() % 2 == 0 ? random() : odd_value(random);
        }
        RingHeader& header = broken.header();
        header.head.store(round % 2 == 0 ? header.tail.load() + capacity : random());
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    broken.header().head.store(broken.header().tail.load());
    const auto trace = recorded(program, thread);
    ASSERT_TRUE(trace);
    ASSERT_NE(gap(*trace, DataGapReason::shared_memory_damaged), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Seeds, GarbageFromAProgram, testing::Range(1u, 9u));

TEST_F(HostileProgram, MemoryThatCouldShrinkIsRefused) {
    SimulatedProgram program({8, 1 << 12, 0});
    EXPECT_FALSE(program.start_recorder(output_, ::getpid(), "", false, 1));
    EXPECT_FALSE(fs::exists(output_));
    const std::string ordinary = (folder_ / "region").string();
    std::ofstream(ordinary) << std::string(1 << 20, '\0');
    const Descriptor file(::open(ordinary.c_str(), O_RDWR));
    const auto mapped = recorder::MappedRegion::map(file.get());
    ASSERT_FALSE(mapped);
    EXPECT_NE(mapped.error().sentence.english().find("truncation"), std::string::npos);
    SimulatedProgram sealed({});
    EXPECT_EQ(::ftruncate(sealed.file(), 0), -1);
    EXPECT_EQ(errno, EPERM);
}

TEST_F(HostileProgram, OnlyTheOwnerCanReadTheTrace) {
    const mode_t usual = ::umask(0);
    SimulatedProgram program({});
    const bool has_started = program.start_recorder(output_, ::getpid());
    ::umask(usual);
    ASSERT_TRUE(has_started) << program.failure();
    struct stat about {};
    for (const char* beside : {"", "-wal", "-shm"}) {
        ASSERT_EQ(::stat((output_ + beside).c_str(), &about), 0) << beside;
        EXPECT_EQ(about.st_mode & 0777, 0600u) << beside;
    }
    SimulatedThread thread(program, 1, 100);
    ASSERT_TRUE(recorded(program, thread));
    ASSERT_EQ(::stat(output_.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600u);
}

TEST_F(HostileProgram, TheCommandLineIsLeftOutOnRequest) {
    const auto contains_command_line = [&] {
        std::ifstream file(output_, std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(file)), {});
        return bytes.find("--gtest") != bytes.npos || bytes.find("recording_tests") != bytes.npos;
    };
    for (const bool is_wanted : {true, false}) {
        setenv("TIDEMARK_COMMAND_LINE", is_wanted ? "1" : "0", 1);
        SimulatedProgram program({});
        ASSERT_TRUE(program.start_recorder(output_, ::getpid(), "", true)) << program.failure();
        SimulatedThread thread(program, 1, 100);
        const auto trace = recorded(program, thread);
        ASSERT_TRUE(trace);
        EXPECT_EQ(trace->processes.at(0).command_line.empty(), !is_wanted);
        EXPECT_EQ(contains_command_line(), is_wanted);
    }
    unsetenv("TIDEMARK_COMMAND_LINE");
}

TEST_F(HostileProgram, ASessionFolderThatOthersMayWriteIsNotUsed) {
    const fs::path session = folder_ / "session";
    fs::create_directory(session);
    fs::permissions(session, fs::perms::all);
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid(), session.string())) << program.failure();
    std::ofstream(session / "stop") << "";
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_EQ(program.region().header().recorder_state.load(), RecorderState::ready);
    EXPECT_EQ(std::distance(fs::directory_iterator(session), fs::directory_iterator()), 1);
    SimulatedThread thread(program, 1, 100);
    ASSERT_TRUE(recorded(program, thread));
}

}  // namespace
}  // namespace tidemark::test
