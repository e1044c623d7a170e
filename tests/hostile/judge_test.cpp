// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The runner notices what it is for, and mutants are what their seeds say.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "storage/read/open_trace.h"
#include "tests/hostile/judge.h"
#include "tests/hostile/seal.h"
#include "tests/hostile/trace_mutator.h"

namespace tidemark::hostile {
namespace {

Paths here() { return {"", "", "", std::filesystem::temp_directory_path().string()}; }

/// Returns the cause of the failure of one reading; empty if it is none.
std::string cause_of(std::function<int(const Paths&)> run, const std::string& name = "reading") {
    const Reading reading{name, std::move(run)};
    Limits limits;
    limits.seconds = 1;
    Expectation expected;
    expected.most_bytes = int64_t{1} << 30;
    const Try result = Sandbox({&reading, 1}, here(), limits).wait();
    const auto failure = judge({&reading, 1}, result, expected);
    return failure ? failure->cause : "";
}

int complain(int status) {
    std::fprintf(stderr, "run.tide is damaged.\n");
    return status;
}

TEST(Judge, AcceptsSuccessAndErrorsWithAMessage) {
    EXPECT_EQ(cause_of([](const Paths&) { return 0; }), "");
    EXPECT_EQ(cause_of([](const Paths&) { return complain(3); }), "");
    EXPECT_EQ(cause_of([](const Paths&) { return complain(5); }, "check run.tide"), "");
}

TEST(Judge, NoticesUndocumentedStatusesAndSilence) {
    EXPECT_EQ(cause_of([](const Paths&) { return 3; }), "exit status 3 without a message");
    EXPECT_EQ(cause_of([](const Paths&) { return complain(4); }), "exit status 4");
    EXPECT_EQ(cause_of([](const Paths&) { return complain(5); }), "exit status 5");
}

TEST(Judge, NoticesCrashesAndEarlyEnds) {
    EXPECT_EQ(cause_of([](const Paths&) -> int { std::abort(); }).substr(0, 16), "killed by signal");
    EXPECT_EQ(cause_of([](const Paths&) -> int { std::_Exit(7); }), "ended its process with status 7");
}

TEST(Judge, NoticesLoopsWithoutEnd) {
    volatile bool always = true;
    EXPECT_EQ(cause_of([&](const Paths&) {
                  while (always) {
                  }
                  return 0;
              }),
              "hangs: too much CPU time");
}

TEST(Judge, NoticesMemory) {
    const Reading reading{"reading", [](const Paths&) {
                              std::string much(200 << 20, 'x');
                              return much[much.size() / 2] == 'x' ? 0 : 1;
                          }};
    Expectation expected;
    expected.most_bytes = 100 << 20;
    const auto failure = judge({&reading, 1}, Sandbox({&reading, 1}, here(), {}).wait(), expected);
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->cause.substr(0, 28), "more than 100 MB of memory: ");
}

TEST(Judge, NoticesOtherAnswersWithoutADataGap) {
    const Reading reading{"explain", [](const Paths&) { return 0; }, true};
    Expectation expected;
    expected.most_bytes = INT64_MAX;
    expected.must_not_lie = true;
    expected.original.outcomes = {{true, 0, true, 1}};
    Try result;
    result.outcomes = {{true, 0, true, 2}};
    ASSERT_TRUE(judge({&reading, 1}, result, expected));
    result.reported.data_gaps = 1;
    EXPECT_FALSE(judge({&reading, 1}, result, expected));
}

Bytes example(const char* name) {
    std::ifstream file(std::string(TIDEMARK_TEST_DATA) + name, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(file), {});
}

TEST(Mutator, SeedsIdentifyMutants) {
    const Bytes trace = example("/traces/format-5.tide"), pickle = example("/snapshots/s1_plain.pickle");
    for (uint64_t seed = 0; seed < 40; ++seed) {
        const Mutant first = mutate_trace(trace, seed, Sealing::broken);
        EXPECT_EQ(first.bytes, mutate_trace(trace, seed, Sealing::broken).bytes) << first.changes;
        EXPECT_EQ(mutate_pickle(pickle, seed).bytes, mutate_pickle(pickle, seed).bytes);
        EXPECT_EQ(flip_bytes(pickle, seed).bytes, flip_bytes(pickle, seed).bytes);
    }
}

/// A change whose SQL is wrong would change nothing, and nobody would notice.
TEST(Mutator, NearlyAllMutantsDiffer) {
    const Bytes trace = example("/traces/format-5.tide"), pickle = example("/snapshots/s1_plain.pickle");
    int traces = 0, pickles = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) {
        traces += mutate_trace(trace, seed, Sealing::broken).bytes != trace;
        pickles += mutate_pickle(pickle, seed).bytes != pickle;
    }
    EXPECT_GE(traces, 95);
    EXPECT_GE(pickles, 95);
}

TEST(Mutator, RenewsSealsThatFit) {
    const Bytes trace = example("/traces/format-5.tide");
    ASSERT_TRUE(is_sealed(trace));
    Bytes changed = trace;
    renew_seal(changed);
    const std::string path = testing::TempDir() + "/sealed.tide";
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(changed.data()), static_cast<std::streamsize>(changed.size()));
    Progress progress;
    const auto opened = open_trace(path, progress);
    ASSERT_TRUE(opened);
    EXPECT_EQ((*opened)->integrity, Integrity::intact);
}

}  // namespace
}  // namespace tidemark::hostile
