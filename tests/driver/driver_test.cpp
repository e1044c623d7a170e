// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The driver part with a fake CUPTI: the records of each call.
#include "recorder/driver/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/driver/driver_fixture.h"

namespace {

using namespace tidemark::recorder;
using namespace std::string_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(Driver, ReportsWhenRecordingStartsAndStops) {
    char sentence[8] = "before";
    EXPECT_EQ(tidemark_driver_attach(sentence, sizeof sentence), 1);
    EXPECT_STREQ(sentence, "");
    tidemark_driver_pause();
    tidemark_driver_pause();
    EXPECT_FALSE(fake().subscribed);
    EXPECT_EQ(tidemark_driver_resume(), 1);
    EXPECT_THAT(recorded(), ElementsAre("on", "off", "on"));
}

TEST_F(Driver, FreesHaveSizeAndMemoryKind) {
    attach();
    allocate(1000, 200, cupti::cuMemAlloc_v2, 3);
    allocate(2000, 300, cupti::cuMemHostAlloc);
    allocate(3000, 400, cupti::cuMemAllocManaged);
    free(1000);
    free(2000, cupti::cuMemFreeHost);
    free(3000);
    EXPECT_THAT(recorded(),
                ElementsAre("alloc device d3 1000+200", "alloc pinned d0 2000+300", "alloc managed d0 3000+400",
                            "free device d3 1000+200", "free pinned d0 2000+300", "free managed d0 3000+400"));
}

TEST_F(Driver, RecordsHaveStackTimeAndSource) {
    attach();
    allocate(1000, 200);
    const auto records = stub_core().driver_records();
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].driver.stack, 77u);
    EXPECT_NE(records[0].ticks, 0u);
    // The test program is the innermost object other than the C library.
    EXPECT_THAT(stub_core().texts[records[0].driver.source], HasSubstr("driver_tests"));
    free(1000);
}

TEST_F(Driver, IgnoresFailedCallsAndFreesOfNull) {
    attach();
    uint64_t address = 1000;
    const cupti::AllocateParams params{&address, 200};
    call(cupti::cuMemAlloc_v2, &params, 2);
    free(0);
    allocate(1000, 200);
    free(1000, cupti::cuMemFree_v2, 700);
    free(1000);
    EXPECT_THAT(recorded(), ElementsAre("alloc device d0 1000+200", "free device d0 1000+200"));
}

TEST_F(Driver, FreesOfEarlierMemoryHaveNoSize) {
    attach();
    free(5000);
    EXPECT_THAT(recorded(), ElementsAre("free device d0 5000+0"));
}

TEST_F(Driver, PitchedMemoryIncludesRowPadding) {
    attach();
    const uint64_t address = 1000;
    const size_t pitch = 512;
    const cupti::PitchParams params{&address, &pitch, 100, 3};
    call(cupti::cuMemAllocPitch_v2, &params);
    free(1000);
    EXPECT_THAT(recorded(), ElementsAre("alloc device d0 1000+1536", "free device d0 1000+1536"));
}

TEST_F(Driver, ArraySizesFollowFromTheirElements) {
    attach();
    const uint64_t array = 40;
    const cupti::Array3DDescriptor shape{16, 8, 0, 0x20, 4, 0};
    const cupti::MipmappedArrayParams params{&array, &shape, 2};
    call(cupti::cuMipmappedArrayCreate, &params);
    free(40, cupti::cuMipmappedArrayDestroy);
    EXPECT_THAT(recorded(), ElementsAre("alloc array d0 40+2560", "free array d0 40+2560"));
}

TEST_F(Driver, PhysicalMemoryIsFreedAfterReleaseAndUnmap) {
    attach();
    create(9, 2048, 1);
    map(100'000, 1024, 9);
    map(101'024, 1024, 9);
    free(9, cupti::cuMemRelease);
    EXPECT_THAT(recorded(), ElementsAre("alloc physical d1 9+2048", "alloc mapped d1 100000+1024 of 9",
                                        "alloc mapped d1 101024+1024 of 9"));
    unmap(100'000, 2048);
    EXPECT_THAT(recorded(), ElementsAre("free mapped d1 100000+1024 of 9", "free mapped d1 101024+1024 of 9",
                                        "free physical d1 9+2048"));
}

TEST_F(Driver, RetainedPhysicalMemoryIsFreedByTheLastRelease) {
    attach();
    create(9, 2048);
    map(100'000, 2048, 9);
    const uint64_t handle = 9;
    const cupti::OutParams retained{&handle};
    call(cupti::cuMemRetainAllocationHandle, &retained);
    unmap(100'000, 2048);
    free(9, cupti::cuMemRelease);
    recorded();
    free(9, cupti::cuMemRelease);
    EXPECT_THAT(recorded(), ElementsAre("free physical d0 9+2048"));
}

TEST_F(Driver, RecordsTheSizeOfPools) {
    attach();
    set_pool_bytes(2048);
    allocate(1000, 200, cupti::cuMemAllocAsync, 1);
    allocate(2000, 300, cupti::cuMemAllocAsync, 1);
    free(1000, cupti::cuMemFreeAsync);
    free(2000);
    set_pool_bytes(0);
    free(701, cupti::cuMemPoolTrimTo);
    EXPECT_THAT(recorded(), ElementsAre("alloc async d1 1000+200", "alloc pool d1 701+2048", "alloc async d1 2000+300",
                                        "free async d1 1000+200", "free async d1 2000+300", "free pool d1 701+2048"));
}

TEST_F(Driver, RecordsImportedMemoryAsMapped) {
    attach();
    const uint64_t address = 1000;
    const cupti::OutParams params{&address};
    call(cupti::cuIpcOpenMemHandle_v2, &params);
    free(1000, cupti::cuIpcCloseMemHandle);
    EXPECT_THAT(recorded(), ElementsAre("alloc mapped d0 1000+4096", "free mapped d0 1000+4096"));
}

TEST_F(Driver, ForkedChildrenStartWithoutAllocations) {
    attach();
    allocate(1000, 200);
    const pid_t child = fork();
    if (child == 0) {
        stub_core().messages.clear();
        free(1000);
        const auto records = stub_core().driver_records();
        _exit(records.size() == 1 && records[0].driver.size == 0 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    free(1000);
}

TEST_F(Driver, AcceptsReuseOfAnAddressBeforeItsFreeReturns) {
    attach();
    allocate(1000, 200);
    const cupti::FreeParams params{1000};
    Call freeing{cupti::driver_api, cupti::cuMemFree_v2, &params};
    freeing.report(cupti::enter);
    std::thread([] { allocate(1000, 64); }).join();
    freeing.report(cupti::exit);
    EXPECT_THAT(recorded(),
                ElementsAre("alloc device d0 1000+200", "free device d0 1000+200", "alloc device d0 1000+64"));
    free(1000);
}

TEST_F(Driver, RecordsRuntimeCallsOnlyWithoutADriverCall) {
    attach();
    const uint64_t address = 1000;
    const cupti::AllocateParams allocated{&address, 200};
    const cupti::FreeParams freed{1000};
    Call runtime_allocation{cupti::runtime_api, cupti::cudaMalloc, &allocated};
    Call runtime_free{cupti::runtime_api, cupti::cudaFree, &freed};

    runtime_allocation.report(cupti::enter);
    allocate(1000, 200);
    runtime_allocation.report(cupti::exit);
    runtime_free.report(cupti::enter);
    free(1000);
    runtime_free.report(cupti::exit);
    EXPECT_THAT(recorded(), ElementsAre("alloc device d0 1000+200", "free device d0 1000+200"));

    runtime_allocation.report(cupti::enter);
    runtime_allocation.report(cupti::exit);
    runtime_free.report(cupti::enter);
    runtime_free.report(cupti::exit);
    EXPECT_THAT(recorded(), ElementsAre("alloc device d0 1000+200", "free device d0 1000+200"));
}

TEST_F(Driver, RecordsContextsAndModules) {
    attach();
    const cupti::ModuleData module{4, 5000, nullptr};
    const cupti::ResourceData created{reinterpret_cast<void*>(2), nullptr, nullptr};
    const cupti::ResourceData loaded{reinterpret_cast<void*>(2), nullptr, &module};
    fake().callback(fake().user, cupti::resource, cupti::context_created, &created);
    fake().callback(fake().user, cupti::resource, cupti::module_loaded, &loaded);
    EXPECT_EQ(stub_core().driver_records().back().driver.size, 5000u);
    allocate(1000, 200, cupti::cuMemAlloc_v2, 1);
    fake().callback(fake().user, cupti::resource, cupti::context_destroy_starting, &created);
    free(1000);  // memory of a new context, whose allocation was not recorded
    EXPECT_THAT(recorded(), ElementsAre("context created d1", "module d1", "alloc device d1 1000+200",
                                        "free device d1 1000+200", "context destroyed d1", "free device d0 1000+0"));
}

TEST_F(Driver, ReportsABusyCuptiWithItsSubscriber) {
    fake().subscribe_result = cupti::multiple_subscribers;
    fake().subscriber = "CUPTI for Kineto";
    char sentence[512];
    EXPECT_EQ(tidemark_driver_attach(sentence, sizeof sentence), 0);
    EXPECT_THAT(sentence, HasSubstr("in use by CUPTI for Kineto"));
    EXPECT_THAT(stub_core().data_gaps(), ElementsAre("cupti_busy\0CUPTI for Kineto"s));
    EXPECT_EQ(tidemark_driver_resume(), 0);
    fake().subscribe_result = 0;
    EXPECT_EQ(tidemark_driver_resume(), 1);
}

TEST_F(Driver, ReportsOtherErrorsWithTheirFix) {
    char sentence[512];
    fake().subscribe_result = cupti::insufficient_privileges;
    tidemark_driver_attach(sentence, sizeof sentence);
    EXPECT_THAT(sentence, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
    fake().subscribe_result = 999;
    tidemark_driver_attach(sentence, sizeof sentence);
    EXPECT_THAT(sentence, HasSubstr("CUPTI_ERROR_OF_THE_TEST"));
    EXPECT_THAT(stub_core().data_gaps(), ElementsAre("cupti_forbidden\0"s, "cupti_failed\0CUPTI_ERROR_OF_THE_TEST"s));
}

TEST_F(Driver, InjectionSubscribesOnlyIfRequested) {
    setenv("TIDEMARK_WITH", "stacks,nvml", 1);
    EXPECT_EQ(InitializeInjection(), 1);
    EXPECT_FALSE(fake().subscribed);
    setenv("TIDEMARK_WITH", "stacks,driver", 1);
    EXPECT_EQ(InitializeInjection(), 1);
    EXPECT_TRUE(fake().subscribed);
    EXPECT_THAT(recorded(), ElementsAre("on"));
}

TEST_F(Driver, InjectionDoesNotSubscribeInAnUnrecordedChild) {
    stub_core().recording = false;
    EXPECT_EQ(InitializeInjection(), 1);
    EXPECT_FALSE(fake().subscribed);
}

TEST_F(Driver, InjectionReportsAStartErrorOnceAndContinues) {
    stub_core().recording = false;
    setenv("TIDEMARK_RECORD", "1", 1);
    stub_core().start_error = "There is no recorder.";
    testing::internal::CaptureStderr();
    EXPECT_EQ(InitializeInjection(), 1);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "nothing to record yet";
    testing::internal::CaptureStderr();
    allocate(1000, 200);
    allocate(2000, 200);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "tidemark: There is no recorder.\n") << "once";
    EXPECT_THAT(recorded(), IsEmpty());
}

TEST_F(Driver, RecordingStartsAtTheFirstDriverCall) {
    stub_core().recording = false;
    setenv("TIDEMARK_RECORD", "1", 1);
    stub_core().starts = true;
    EXPECT_EQ(InitializeInjection(), 1);
    EXPECT_FALSE(stub_core().recording);
    allocate(1000, 200);
    EXPECT_TRUE(stub_core().recording);
    EXPECT_THAT(recorded(), ElementsAre("on", "alloc device d0 1000+200"));
}

TEST_F(Driver, SendsTheCostOfItsCallbacks) {
    attach();
    const auto costs = [] {
        std::vector<tidemark_record> found;
        for (const auto& message : stub_core().messages) {
            if (message.record.kind == TIDEMARK_COST) {
                found.push_back(message.record);
            }
        }
        return found;
    };
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (costs().empty() && std::chrono::steady_clock::now() < end) {
        allocate(1000, 200);
        free(1000);
    }
    ASSERT_FALSE(costs().empty());
    EXPECT_EQ(costs()[0].detail, TIDEMARK_COST_CALLBACKS);
    EXPECT_GT(costs()[0].cost.count, 0u);
    EXPECT_GT(costs()[0].cost.duration_ns, 0u);
}

TEST_F(Driver, PushesNothingIfNotRecording) {
    attach();
    stub_core().recording = false;
    allocate(1000, 200);
    EXPECT_THAT(recorded(), IsEmpty());
    stub_core().recording = true;
    free(1000);
    EXPECT_THAT(recorded(), ElementsAre("free device d0 1000+200"));
}

}  // namespace
