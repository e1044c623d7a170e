// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The events that driver calls are where no caching allocator reports its own: numbers, addresses, stacks, devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <thread>

#include "recorder/driver/driver_memory.h"
#include "tests/driver/driver_fixture.h"

namespace {

using namespace tidemark::recorder;
using namespace std::string_literals;
using testing::ElementsAre;

using DriverEvents = Driver;

/// Returns "device 0: alloc 0+2" for each record with events.
std::vector<std::string> numbers_of(const std::vector<tidemark_record>& records) {
    std::vector<std::string> texts;
    for (const tidemark_record& record : records) {
        if (record.driver.events > 0) {
            texts.push_back("d" + std::to_string(record.driver.device) +
                            (record.detail == TIDEMARK_DRIVER_ALLOC ? " alloc " : " free ") +
                            std::to_string(record.driver.sequence) + "+" + std::to_string(record.driver.events));
        }
    }
    return texts;
}

TEST_F(DriverEvents, NumbersTheEventsOfDeviceMemoryPerDevice) {
    attach();
    allocate(1000, 200);
    allocate(2000, 300, cupti::cuMemHostAlloc);  // host memory
    allocate(3000, 400, cupti::cuMemAllocManaged, 1);
    create(9, 2048);
    map(100'000, 2048, 9);  // takes no memory of its own
    free(1000);
    free(9, cupti::cuMemRelease);
    unmap(100'000, 2048);
    free(2000, cupti::cuMemFreeHost);
    free(3000);
    free(5000);  // older than the recording
    EXPECT_THAT(numbers_of(stub_core().driver_records()), ElementsAre("d0 alloc 0+2", "d1 alloc 0+2", "d0 alloc 2+2",
                                                                      "d0 free 4+3", "d0 free 7+3", "d1 free 2+3"));
}

/// Returns "d0 1000 after 2" for the memory that contains an address; "": none.
std::string place_at(uint64_t address) {
    tidemark_driver_place place{};
    return tidemark_driver_place_of(address, &place) == 0
               ? ""
               : "d" + std::to_string(place.device) + " " + std::to_string(place.address) + " after " +
                     std::to_string(place.sequence);
}

TEST_F(DriverEvents, FindsTheMemoryThatContainsAnAddress) {
    attach();
    allocate(1000, 200);
    allocate(2000, 300, cupti::cuMemHostAlloc);
    allocate(3000, 400, cupti::cuMemAllocManaged, 1);
    create(9, 2048);
    map(100'000, 2048, 9);
    EXPECT_EQ(place_at(999), "");
    EXPECT_EQ(place_at(1000), "d0 1000 after 4");
    EXPECT_EQ(place_at(1199), "d0 1000 after 4");
    EXPECT_EQ(place_at(1200), "");
    EXPECT_EQ(place_at(2000), "") << "host memory";
    EXPECT_EQ(place_at(3100), "d1 3000 after 2");
    EXPECT_EQ(place_at(100'500), "d0 " + std::to_string(DriverMemory::first_made_address) + " after 4")
        << "as the event of the physical memory";
    free(1000);
    EXPECT_EQ(place_at(1000), "");
    stub_core().recording = 2;
    EXPECT_EQ(place_at(3100), "") << "it is no event of this recording";
}

TEST_F(DriverEvents, MemoryOfAnotherRecordingHasNoEvents) {
    attach();
    allocate(1000, 200);
    stub_core() = {};
    stub_core().recording = 2;
    free(1000);
    allocate(2000, 200);
    free(2000);
    EXPECT_THAT(numbers_of(stub_core().driver_records()), ElementsAre("d0 alloc 0+2", "d0 free 2+3"));
}

TEST_F(DriverEvents, MemoryThatOverlapsHasBeenFreed) {
    attach();
    allocate(1000, 200);
    allocate(5000, 200);
    allocate(900, 5000);  // the frees have not returned yet
    free(900);
    EXPECT_THAT(recorded(),
                ElementsAre("alloc device d0 1000+200", "alloc device d0 5000+200", "free device d0 1000+200",
                            "free device d0 5000+200", "alloc device d0 900+5000", "free device d0 900+5000"));
}

TEST_F(DriverEvents, HandlesHaveAddressesOfTheirOwn) {
    attach();
    create(9, 2048);
    create(10, 2048);  // handles are closer than the memory is large
    const auto records = stub_core().driver_records();
    ASSERT_EQ(records.size(), 2u);
    EXPECT_GE(records[0].driver.handle, DriverMemory::first_made_address);
    EXPECT_GE(records[1].driver.handle, records[0].driver.handle + 2048);
    free(9, cupti::cuMemRelease);
    EXPECT_EQ(stub_core().driver_records().back().driver.handle, records[0].driver.handle);
    free(10, cupti::cuMemRelease);
}

TEST_F(DriverEvents, ThreadsNumberTheirEventsInTheOrderOfTheMemory) {
    attach();
    const auto work = [](uint64_t address) {
        for (int i = 0; i < 500; ++i) {
            allocate(address, 64);
            free(address);
        }
    };
    // Both use the same addresses: what one frees, the other may get before the call returns.
    std::thread one([&] { work(1000); }), other([&] { work(1000); });
    one.join();
    other.join();
    std::map<uint64_t, tidemark_record> by_number;
    for (const tidemark_record& record : stub_core().driver_records()) {
        if (record.driver.events > 0) {
            EXPECT_TRUE(by_number.emplace(record.driver.sequence, record).second);
        }
    }
    uint64_t next = 0;
    bool is_allocated = false;
    for (const auto& [number, record] : by_number) {
        EXPECT_EQ(number, next);
        next = number + record.driver.events;
        EXPECT_EQ(is_allocated, record.detail == TIDEMARK_DRIVER_FREE);
        is_allocated = !is_allocated;
    }
    EXPECT_EQ(next, stub_core().driver_events[0]);
}

TEST_F(DriverEvents, DescribesTheDeviceOfItsMemoryOnce) {
    attach();
    stub_core().recording = 3;
    allocate(1000, 200, cupti::cuMemAlloc_v2, 2);
    allocate(2000, 200, cupti::cuMemAlloc_v2, 2);
    const auto devices = stub_core().of_kind(TIDEMARK_DEVICE);
    ASSERT_EQ(devices.size(), 1u);
    EXPECT_EQ(devices[0].record.detail, TIDEMARK_DEVICE_FROM_DRIVER);
    EXPECT_EQ(devices[0].record.device.device, 2u);
    EXPECT_EQ(devices[0].record.device.total_bytes, uint64_t{80} << 30);
    EXPECT_EQ(devices[0].payload,
              "Fake GPU 2\0"
              "0000:02:00.0\0"
              "GPU-20212223-2425-2627-2829-2a2b2c2d2e2f"s);
    free(1000);
    free(2000);
}

TEST_F(DriverEvents, AThreadWithoutPythonFramesHasItsNativeStack) {
    attach();
    stub_core().stack = 0;
    for (int i = 0; i < 2; ++i) {
        allocate(1000, 200);
    }
    free(1000);
    const auto stacks = stub_core().of_kind(TIDEMARK_STACK);
    const auto records = stub_core().driver_records();
    ASSERT_GE(stacks.size(), 2u);
    EXPECT_EQ(stacks[0].record.define.id, TIDEMARK_NATIVE_STACK | 1u);
    EXPECT_EQ(records[0].driver.stack, TIDEMARK_NATIVE_STACK | 1u);
    EXPECT_EQ(records[1].driver.stack, records[2].driver.stack) << "the stack of one call";
    tidemark_frame frame;
    std::memcpy(&frame, stacks[0].payload.data(), sizeof frame);
    EXPECT_THAT(stub_core().texts[frame.file], testing::EndsWith("/driver_tests"));
    EXPECT_NE(frame.module, 0u);
}

}  // namespace
