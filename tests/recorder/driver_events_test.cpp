// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Driver allocations as the events of devices: programs without PyTorch, and PyTorch with other allocators.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "recorder/daemon/native_symbols.h"
#include "storage/text/data_gap_words.h"
#include "tests/recorder/recording_fixture.h"
#include "tests/recorder/simulated_program.h"

namespace tidemark::test {
namespace {

using Rows = std::vector<std::string>;

/// The driver part of a program: it numbers the events of one device under a lock.
class SimulatedDriver {
public:
    explicit SimulatedDriver(int device) : device_(device) {}

    void allocate(SimulatedThread& thread, uint64_t address, uint64_t size, uint32_t stack = 0,
                  int memory = TIDEMARK_MEMORY_DEVICE) {
        const std::lock_guard lock(mutex_);
        push(thread, TIDEMARK_DRIVER_ALLOC, address, size, stack, memory);
    }
    void free(SimulatedThread& thread, uint64_t address, uint64_t size, int memory = TIDEMARK_MEMORY_DEVICE) {
        const std::lock_guard lock(mutex_);
        push(thread, TIDEMARK_DRIVER_FREE, address, size, 0, memory);
    }
    uint64_t events() const { return next_; }

private:
    void push(SimulatedThread& thread, int action, uint64_t address, uint64_t size, uint32_t stack, int memory) {
        tidemark_record record = record_of(TIDEMARK_DRIVER, action);
        record.driver.device = static_cast<uint8_t>(device_);
        record.driver.address = address;
        record.driver.size = size;
        record.driver.memory = static_cast<uint8_t>(memory);
        record.driver.stack = stack;
        record.driver.handle = memory == TIDEMARK_MEMORY_ARRAY ? (uint64_t{1} << 60) + address : 0;
        record.driver.events =
            action == TIDEMARK_DRIVER_ALLOC ? TIDEMARK_EVENTS_OF_DRIVER_ALLOC : TIDEMARK_EVENTS_OF_DRIVER_FREE;
        record.driver.sequence = std::exchange(next_, next_ + record.driver.events);
        thread.push(record);
    }

    const int device_;
    std::mutex mutex_;
    uint64_t next_ = 0;
};

class DriverEvents : public Recording {
protected:
    void start(SimulatedProgram& program) const {
        ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    }
    std::shared_ptr<const Trace> end(SimulatedProgram& program, SimulatedThread& thread) const {
        thread.end(TIDEMARK_END_STOPPED);
        EXPECT_TRUE(program.wait_for(RecorderState::finished));
        return opened();
    }
};

TEST_F(DriverEvents, AreTheEventsOfAProgramWithoutPyTorch) {
    SimulatedProgram program({});
    start(program);
    SimulatedThread main(program, 1, 100);
    SimulatedDriver driver(0);
    const uint32_t stack = main.stack({{"take", 7}, {"<module>", 20}});
    driver.allocate(main, 0x7000000, 1000, stack);
    driver.allocate(main, 0x8000000, 3 << 20, stack);
    driver.allocate(main, 0x40, 100, stack, TIDEMARK_MEMORY_ARRAY);
    driver.free(main, 0x7000000, 1000);
    const auto trace = end(program, main);
    ASSERT_TRUE(trace);
    EXPECT_EQ(EventSource::driver, trace->event_source);
    ASSERT_EQ(1u, trace->devices.size());
    const DeviceHistory& device = trace->devices[0];
    EXPECT_EQ(9, device.event_count());
    EXPECT_EQ((std::vector<EventNumber>{1, 3, 5}), device.allocations.alloc_event);
    EXPECT_EQ((std::vector<EventNumber>{6, never, never}), device.allocations.free_event);
    EXPECT_EQ((std::vector<uint64_t>{1000, 3 << 20, 100}), device.allocations.requested);
    EXPECT_EQ((std::vector<uint64_t>{1024, 3 << 20, 512}), device.allocations.block_size);
    EXPECT_EQ((uint64_t{1} << 60) + 0x40, device.allocations.address[2]);
    EXPECT_EQ("train.py:7 take", describe_frame(trace->stacks, trace->stacks.site(device.allocations.stack[1])));
    EXPECT_EQ(0, data_gaps_of_kind(*trace, DataGapKind::events_inconsistent)) << data_gaps_of(*trace);
}

TEST_F(DriverEvents, OfTwoThreadsHaveTheOrderOfTheMemory) {
    SimulatedProgram program({});
    start(program);
    SimulatedThread main(program, 1, 100), other(program, 2, 101);
    SimulatedDriver driver(0);
    std::mutex turn;
    const auto work = [&](SimulatedThread& thread) {
        for (int i = 0; i < 2000; ++i) {
            const std::lock_guard lock(turn);  // both use one address in turn
            driver.allocate(thread, 0x7000000, 4096);
            driver.free(thread, 0x7000000, 4096);
        }
    };
    std::thread second([&] { work(other); });
    work(main);
    second.join();
    driver.allocate(other, 0x9000000, 512);
    const auto trace = end(program, main);
    ASSERT_TRUE(trace);
    const DeviceHistory& device = trace->devices.at(0);
    EXPECT_EQ(static_cast<EventNumber>(driver.events()), device.event_count());
    ASSERT_EQ(4001u, device.allocations.size());
    for (AllocationIndex a = 0; a < 4000; ++a) {
        ASSERT_EQ(device.allocations.alloc_event[a] + 1, device.allocations.free_event[a]);
    }
    EXPECT_EQ("", data_gaps_of(*trace));
}

TEST_F(DriverEvents, YieldToThoseOfPyTorchsAllocator) {
    SimulatedProgram program({});
    start(program);
    SimulatedThread main(program, 1, 100);
    SimulatedDriver driver(0);
    SimulatedAllocator allocator(0);
    main.meta("torch_version", "2.11.0");
    driver.allocate(main, 0x5000000, 4096);  // waits: PyTorch may use CUDA soon
    usleep(300'000);
    allocator.report_state(main, TIDEMARK_STATE_START);
    allocator.allocate(main, 1000);
    driver.allocate(main, 0x6000000, 4096);
    const auto trace = end(program, main);
    ASSERT_TRUE(trace);
    EXPECT_EQ(EventSource::caching_allocator, trace->event_source);
    expect_truth(allocator.truth(), trace->devices.at(0));
    EXPECT_EQ(2u, trace->driver_allocations.size());
}

TEST_F(DriverEvents, AreWrittenAtTheEndIfPyTorchDoesNotUseCuda) {
    SimulatedProgram program({});
    start(program);
    SimulatedThread main(program, 1, 100);
    SimulatedDriver driver(0);
    main.meta("torch_version", "2.11.0");
    driver.allocate(main, 0x5000000, 4096);
    const auto trace = end(program, main);
    ASSERT_TRUE(trace);
    EXPECT_EQ(1u, trace->devices.at(0).allocations.size());
    EXPECT_EQ(EventSource::driver, trace->event_source);
}

TEST_F(DriverEvents, StayTheEventsIfPyTorchsAllocatorBeginsLate) {
    SimulatedProgram program({});
    start(program);
    SimulatedThread main(program, 1, 100);
    SimulatedDriver driver(0);
    SimulatedAllocator allocator(0);
    driver.allocate(main, 0x5000000, 4096);
    while (program.region().header().driver_owns_events.load() == 0) {
        usleep(10'000);
    }
    main.push(record_of(TIDEMARK_DATA_GAP, static_cast<int>(DataGapKind::not_recorded)), "allocator_late\0", 15);
    allocator.report_state(main, TIDEMARK_STATE_START);
    allocator.allocate(main, 1000);
    driver.free(main, 0x5000000, 4096);
    const auto trace = end(program, main);
    ASSERT_TRUE(trace);
    EXPECT_EQ(5, trace->devices.at(0).event_count());
    EXPECT_NE(std::string::npos, data_gaps_of(*trace).find("PyTorch began to use the GPU after other code"));
}

TEST_F(DriverEvents, OfPyTorchsOtherAllocatorsHaveOpsPhasesAndLabels) {
    SimulatedProgram program({});
    start(program);
    SimulatedThread main(program, 1, 100);
    main.meta("torch_version", "2.11.0");
    main.push(record_of(TIDEMARK_NO_ALLOCATOR));
    tidemark_record record = record_of(TIDEMARK_DRIVER, TIDEMARK_DRIVER_ALLOC);
    record.driver.memory = TIDEMARK_MEMORY_ASYNC;
    record.driver.address = 0x5000000;
    record.driver.size = 4096;
    record.driver.events = TIDEMARK_EVENTS_OF_DRIVER_ALLOC;
    record.driver.op = main.op(TIDEMARK_SCOPE_OP, "aten::zeros", 0);
    record.driver.phase = TIDEMARK_PHASE_FORWARD;
    main.push(record);
    main.label(TIDEMARK_CATEGORY_PARAMETER, {0, 0x5000000, 2}, "weight");
    const auto trace = end(program, main);
    ASSERT_TRUE(trace);
    EXPECT_EQ((Rows{"aten::zeros|forward"}),
              rows("SELECT o.text, p.text FROM origin JOIN string o ON o.id = op JOIN string p ON p.id = phase"));
    EXPECT_EQ((Rows{"weight"}),
              rows("SELECT text FROM allocation_category JOIN string ON string.id = name WHERE allocation > 0"));
}

TEST_F(DriverEvents, HaveNativeStacksWithFunctionsAndLines) {
    SimulatedProgram program({});
    start(program);
    SimulatedThread main(program, 1, 100);
    SimulatedDriver driver(0);
    Dl_info info{};
    link_map* object = nullptr;
    const auto address = reinterpret_cast<uint64_t>(&record_of) + 1;
    ASSERT_NE(0, dladdr1(reinterpret_cast<void*>(address), &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP));
    const std::string path = fs::read_symlink("/proc/self/exe").string();
    const tidemark_frame frame{0, main.text(path), 0, 0, address - object->l_addr};
    tidemark_record stack = record_of(TIDEMARK_STACK);
    stack.define.id = TIDEMARK_NATIVE_STACK | 1;
    main.push(stack, &frame, sizeof frame);
    driver.allocate(main, 0x5000000, 4096, TIDEMARK_NATIVE_STACK | 1);
    const auto trace = end(program, main);
    ASSERT_TRUE(trace);
    const StackId recorded = trace->devices.at(0).allocations.stack.at(0);
    ASSERT_NE(0u, trace->stacks.site(recorded));
    const std::string site = describe_frame(trace->stacks, trace->stacks.site(recorded));
    EXPECT_NE(std::string::npos, site.find("record_of")) << site;
}

TEST(NativeSymbols, NameWhatHasNoSymbols) {
    recorder::NativeSymbols symbols;
    const auto& frames = symbols.at("/nonexistent/program", 0x1234);
    ASSERT_EQ(1u, frames.size());
    EXPECT_EQ("0x1234", frames[0].function);
    EXPECT_EQ("/nonexistent/program", frames[0].file);
    EXPECT_EQ(0, frames[0].line);
}

TEST(NativeSymbols, NameTheFunctionThatContainsAnAddress) {
    recorder::NativeSymbols symbols;
    for (const char* function : {"sqlite3_open", "sqlite3_step", "qsort"}) {
        const auto address = reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, function));
        ASSERT_NE(0u, address);
        Dl_info info;
        link_map* object = nullptr;
        ASSERT_NE(0,
                  dladdr1(reinterpret_cast<void*>(address), &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP));
        const std::string library = fs::canonical(object->l_name).string();
        for (const uint64_t within : {0, 5}) {
            const auto& frames = symbols.at(library, address - object->l_addr + within);
            ASSERT_FALSE(frames.empty());
            EXPECT_NE(std::string::npos, frames.back().function.find(function)) << frames.back().function;
            const bool has_offset = frames.back().function.ends_with(within == 0 ? "+0x0" : "+0x5");
            EXPECT_TRUE(has_offset || frames.back().line > 0) << frames.back().function;
        }
        if (library.find("libsqlite3") != std::string::npos) {
            EXPECT_TRUE(symbols.at(library, 0x10)[0].function.starts_with("0x")) << "no code";
        }
    }
}

TEST(NativeSymbols, LeaveOutTheRuntimeAndTheStart) {
    std::vector<recorder::NativeFrame> frames{{"0x77", "/app", 0},
                                              {"libcudart_static_0053c1d3+0x12", "/app", 0},
                                              {"cudaMalloc+0x80", "/app", 0},
                                              {"cudaAllocate(int)+0x1", "/app", 0},
                                              {"main+0x20", "/app", 0},
                                              {"_start+0x21", "/app", 0}};
    recorder::leave_out_runtime(frames);
    ASSERT_EQ(2u, frames.size());
    EXPECT_EQ("cudaAllocate(int)+0x1", frames[0].function);
    EXPECT_EQ("main+0x20", frames[1].function);
}

TEST(NativeSymbols, KeepAStackThatIsAllRuntime) {
    std::vector<recorder::NativeFrame> frames{{"cudaMalloc+0x80", "/app", 0}};
    recorder::leave_out_runtime(frames);
    EXPECT_EQ(1u, frames.size());
}

}  // namespace
}  // namespace tidemark::test
