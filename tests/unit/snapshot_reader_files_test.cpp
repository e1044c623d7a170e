// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reads recorded snapshots: plain, compressed, truncated and damaged.
#include "storage/import/snapshot_reader.h"

#include <gtest/gtest.h>

#include "tests/unit/snapshot_builder.h"

namespace tidemark {
namespace {

using namespace test;

class RealSnapshot : public testing::TestWithParam<const char*> {};

TEST_P(RealSnapshot, ReadsAndReportsProgress) {
    Progress progress;
    double last = -1;
    progress.report = [&last](const char* phase, double fraction) {
        EXPECT_STREQ(phase, reading_phase);
        EXPECT_GE(fraction, last);
        last = fraction;
    };
    const auto snapshot = read_snapshot_file(data_file(GetParam()) + ".pickle", progress);
    ASSERT_TRUE(snapshot) << snapshot.error().sentence.english();
    EXPECT_EQ(last, 1);
    ASSERT_EQ(snapshot->traces.size(), 1u);
    EXPECT_FALSE(snapshot->traces[0].empty());
    EXPECT_TRUE(snapshot->unknown_actions.empty());
    EXPECT_EQ(snapshot->settings.count("expandable_segments"), 1u);
}

INSTANTIATE_TEST_SUITE_P(SnapshotReader, RealSnapshot,
                         testing::Values("adam_steps", "cudagraph", "frag_oom", "gpt_ring", "s0_graph_leak", "s1_plain",
                                         "s1_retain_empty", "s2_oom_list", "s3_linear", "s3_varlen", "streams",
                                         "varlen_expandable"),
                         [](const auto& one) { return std::string(one.param); });

TEST(SnapshotReader, ReadsCompressedFilesAlike) {
    const Bytes plain = file_bytes(data_file("s3_varlen.pickle"));
    const auto expected = read(plain);
    ASSERT_TRUE(expected);
    for (const auto packing : {test::Packing::gzip, test::Packing::xz, test::Packing::zstd}) {
        const auto packed = read(test::pack(plain, packing));
        ASSERT_TRUE(packed) << packed.error().sentence.english();
        EXPECT_EQ(text_of(*packed), text_of(*expected));
    }
}

TEST(SnapshotReader, DetectsEveryTruncation) {
    const Bytes whole = file_bytes(data_file("s1_retain_empty.pickle"));
    ASSERT_TRUE(read(whole));
    for (size_t i = 1; i < 20; ++i) {
        const size_t size = whole.size() * i / 20;
        EXPECT_TRUE(contains(error_of(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size))),
                             "ends in the middle of the snapshot (after " + std::to_string(size) + " bytes)"));
    }
}

TEST(SnapshotReader, SurvivesEveryChangedByte) {
    Bytes bytes = file_bytes(data_file("s2_oom_list.pickle"));
    for (uint8_t& byte : bytes) {
        const uint8_t kept = byte;
        for (const uint8_t change : {uint8_t{0x01}, uint8_t{0x80}, uint8_t{0xff}}) {
            byte = kept ^ change;
            const auto snapshot = read(bytes);
            EXPECT_TRUE(snapshot || !snapshot.error().sentence.english().empty());
        }
        byte = kept;
    }
}

TEST(SnapshotReader, StopsWhenCanceled) {
    const Bytes bytes = file_bytes(data_file("s0_graph_leak.pickle"));
    auto source = ByteSource::from_memory(bytes);
    ASSERT_TRUE(source);
    Progress progress;
    progress.report = [&progress](const char*, double) { progress.canceled = true; };
    const auto snapshot = read_snapshot(**source, progress);
    ASSERT_FALSE(snapshot);
    EXPECT_EQ(snapshot.error().kind, ErrorKind::canceled);
}

}  // namespace
}  // namespace tidemark
