// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/byte_source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/unit/pickle_builder.h"
#include "tests/unit/pickle_packing.h"

namespace tidemark {
namespace {

using test::Bytes;
using test::contains;

/// Returns pseudo-random bytes, so that compressed files stay large.
Bytes noise(size_t size) {
    Bytes bytes(size);
    uint32_t state = 1;
    for (uint8_t& byte : bytes) {
        state = state * 1664525 + 1013904223;
        byte = static_cast<uint8_t>(state >> 24);
    }
    return bytes;
}

struct Outcome {
    Bytes bytes;
    std::string error;
};

Outcome read_all(ByteSource& source, size_t step = 1000) {
    Outcome outcome;
    while (true) {
        const Status status = source.ensure(step);
        if (!status) {
            outcome.error = status.error().sentence.english();
            return outcome;
        }
        if (source.available() == 0) {
            return outcome;
        }
        EXPECT_EQ(source.position(), outcome.bytes.size());
        outcome.bytes.insert(outcome.bytes.end(), source.data(), source.data() + source.available());
        source.consume(source.available());
    }
}

Outcome read_all(const Bytes& bytes) {
    auto source = ByteSource::from_memory(bytes);
    if (!source) {
        return {{}, source.error().sentence.english()};
    }
    return read_all(**source);
}

Bytes joined(Bytes first, const Bytes& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

class TemporaryFile {
public:
    explicit TemporaryFile(const Bytes& bytes)
        : path_((std::filesystem::temp_directory_path() / ("tidemark_source_" + std::to_string(::getpid()))).string()) {
        std::ofstream(path_, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    ~TemporaryFile() { std::filesystem::remove(path_); }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

TEST(ByteSource, ReadsAPlainFileUnchanged) {
    const Bytes content = noise(1'000'000);
    const TemporaryFile file(content);
    auto source = ByteSource::open(file.path());
    ASSERT_TRUE(source);
    EXPECT_STREQ((*source)->packing(), "");
    EXPECT_EQ((*source)->file_size(), content.size());
    EXPECT_EQ(read_all(**source).bytes, content);
    EXPECT_EQ((*source)->file_position(), content.size());
}

TEST(ByteSource, MakesALargeRangeContiguous) {
    const Bytes content = noise(3'000'000);
    auto source = ByteSource::from_memory(content);
    ASSERT_TRUE(source);
    ASSERT_TRUE((*source)->ensure(10));
    (*source)->consume(10);
    ASSERT_TRUE((*source)->ensure(2'500'000));
    ASSERT_GE((*source)->available(), 2'500'000u);
    EXPECT_TRUE(std::equal(content.begin() + 10, content.begin() + 2'500'010, (*source)->data()));
}

TEST(ByteSource, ReturnsLessOnlyAtTheEnd) {
    const Bytes content = noise(100);
    auto source = ByteSource::from_memory(content);
    ASSERT_TRUE(source);
    ASSERT_TRUE((*source)->ensure(SIZE_MAX));
    EXPECT_EQ((*source)->available(), 100u);
}

class CompressedByteSource : public testing::TestWithParam<test::Packing> {};

TEST_P(CompressedByteSource, DecompressesWhileReading) {
    const Bytes content = noise(1'000'000);
    const Bytes packed = test::pack(content, GetParam());
    auto source = ByteSource::from_memory(packed);
    ASSERT_TRUE(source);
    EXPECT_STREQ((*source)->packing(), test::packing_name(GetParam()));
    const Outcome outcome = read_all(**source);
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.bytes, content);
    EXPECT_EQ((*source)->file_position(), packed.size());
}

TEST_P(CompressedByteSource, ReadsConcatenatedMembers) {
    const Bytes first = noise(300'000), second = noise(10);
    Bytes packed = test::pack(first, GetParam());
    packed = joined(joined(packed, Bytes(8, 0)), test::pack(second, GetParam()));
    const Outcome outcome = read_all(packed);
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.bytes, joined(first, second));
}

TEST_P(CompressedByteSource, IgnoresTrailingBytes) {
    const Bytes content = noise(5000);
    const Outcome outcome = read_all(joined(test::pack(content, GetParam()), {'e', 'n', 'd'}));
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.bytes, content);
}

TEST_P(CompressedByteSource, DetectsEveryTruncation) {
    const Bytes packed = test::pack(noise(2000), GetParam());
    const std::string expected = std::string("The ") + test::packing_name(GetParam()) + " compression ends too early";
    for (size_t size = 6; size < packed.size(); size += 61) {
        EXPECT_TRUE(
            contains(read_all({packed.begin(), packed.begin() + static_cast<ptrdiff_t>(size)}).error, expected));
    }
}

TEST_P(CompressedByteSource, DetectsDamage) {
    Bytes packed = test::pack(noise(2000), GetParam());
    for (size_t i = packed.size() / 2; i < packed.size() / 2 + 40; ++i) {
        packed[i] ^= 0x55;
    }
    const std::string expected = std::string("The ") + test::packing_name(GetParam()) + " compression is damaged";
    EXPECT_TRUE(contains(read_all(packed).error, expected));
}

TEST_P(CompressedByteSource, StopsWhenCanceled) {
    const Bytes packed = test::pack(noise(1'000'000), GetParam());
    auto source = ByteSource::from_memory(packed);
    ASSERT_TRUE(source);
    const std::atomic<bool> stop{true};
    (*source)->stop_on(&stop);
    const Status status = (*source)->ensure(1);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().kind, ErrorKind::canceled);
}

INSTANTIATE_TEST_SUITE_P(ByteSource, CompressedByteSource,
                         testing::Values(test::Packing::gzip, test::Packing::xz, test::Packing::zstd),
                         [](const auto& one) { return std::string(test::packing_name(one.param)); });

TEST(ByteSource, NamesTheMissingFile) {
    const auto source = ByteSource::open("/no/such/file.pickle");
    ASSERT_FALSE(source);
    EXPECT_EQ(source.error().kind, ErrorKind::environment);
    EXPECT_EQ(source.error().sentence.english(), "/no/such/file.pickle cannot be opened: No such file or directory.");
}

TEST(ByteSource, RejectsADirectory) {
    const auto source = ByteSource::open("/");
    ASSERT_FALSE(source);
    EXPECT_EQ(source.error().kind, ErrorKind::input);
    EXPECT_TRUE(contains(source.error().sentence.english(), "is a folder"));
}

TEST(ByteSource, ReportsAMissingPermission) {
    const TemporaryFile file(Bytes{1});
    ASSERT_EQ(::chmod(file.path().c_str(), 0), 0);
    const auto source = ByteSource::open(file.path());
    if (::geteuid() == 0) {
        GTEST_SKIP() << "root may read everything";
    }
    ASSERT_FALSE(source);
    EXPECT_TRUE(contains(source.error().sentence.english(), "Permission denied"));
}

TEST(ByteSource, RejectsAnEmptyFile) {
    const TemporaryFile file(Bytes{});
    const auto source = ByteSource::open(file.path());
    ASSERT_FALSE(source);
    EXPECT_EQ(source.error().kind, ErrorKind::input);
    EXPECT_TRUE(contains(source.error().sentence.english(), "empty"));
}

}  // namespace
}  // namespace tidemark
