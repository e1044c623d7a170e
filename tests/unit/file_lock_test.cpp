// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/file_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "storage/base/descriptor.h"
#include "storage/base/part_file.h"
#include "storage/write/old_trace.h"
#include "storage/write/streaming_writer.h"
#include "tests/unit/no_locks.h"
#include "tests/unit/temporary_folder.h"

namespace tidemark::test {
namespace {

namespace fs = std::filesystem;

class FileLock : public testing::Test {
protected:
    std::string path() const { return folder_ / "run.tide"; }
    TemporaryFolder folder_;
};

TEST_F(FileLock, ALockThatIsHeldIsToldFromAFileSystemWithoutLocks) {
    std::ofstream(path()) << "x";
    const Descriptor first(::open(path().c_str(), O_RDWR | O_CLOEXEC)),
        second(::open(path().c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_EQ(LockAttempt::locked, try_lock(first.get()));
    EXPECT_EQ(LockAttempt::held, try_lock(second.get()));
    for (const int reason : {ENOLCK, EOPNOTSUPP, EINVAL, ENOSYS}) {
        const WithoutFileLocks machine(reason);
        EXPECT_EQ(LockAttempt::unsupported, try_lock(second.get()));
        EXPECT_EQ(reason, errno);
    }
}

TEST_F(FileLock, TheSentenceNamesTheCauseAndTheFix) {
    const std::string held = not_locked("run.tide", LockAttempt::held, 0).sentence.english();
    EXPECT_NE(std::string::npos, held.find("being written by another program"));
    const std::string missing = not_locked("run.tide", LockAttempt::unsupported, ENOLCK).sentence.english();
    EXPECT_EQ(std::string::npos, missing.find("another program"));
    EXPECT_NE(std::string::npos, missing.find("no file locks (No locks available)")) << missing;
    EXPECT_NE(std::string::npos, missing.find("local disk")) << missing;
}

TEST_F(FileLock, AGrowingTraceNeedsLocks) {
    const WithoutFileLocks machine(ENOLCK);
    const auto writer = StreamingWriter::create(path(), IfExists::fail, Trace());
    ASSERT_FALSE(writer);
    EXPECT_NE(std::string::npos, writer.error().sentence.english().find("no file locks"));
    EXPECT_FALSE(fs::exists(path()));
}

TEST_F(FileLock, AnOldTraceIsKeptIfNothingShowsWhetherItIsBeingWritten) {
    std::ofstream(path()) << "";
    const WithoutFileLocks machine(ENOLCK);
    const Status refused = remove_old_trace(path(), WithoutLocks::refuse);
    ASSERT_FALSE(refused);
    EXPECT_NE(std::string::npos, refused.error().sentence.english().find("no file locks"));
    EXPECT_TRUE(fs::exists(path()));
    EXPECT_TRUE(remove_old_trace(path(), WithoutLocks::replace));
    EXPECT_FALSE(fs::exists(path()));
}

TEST_F(FileLock, ReportsAndImportsNeedNoLocks) {
    const WithoutFileLocks machine(ENOLCK);
    const std::string leftover = path() + ".0123456789abcdef.part";
    std::ofstream(leftover) << "of a writer that may still run";
    EXPECT_TRUE(write_file(path(), "text"));
    EXPECT_EQ(4u, fs::file_size(path()));
    EXPECT_TRUE(fs::exists(leftover));
}

}  // namespace
}  // namespace tidemark::test
