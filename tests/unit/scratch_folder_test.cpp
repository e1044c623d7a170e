// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/scratch_folder.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "storage/base/file_system.h"
#include "storage/base/regular_file.h"
#include "tests/unit/no_locks.h"
#include "tests/unit/temporary_folder.h"

namespace tidemark::test {
namespace {

namespace fs = std::filesystem;

/// Restores the variables that it changes.
class Variables {
public:
    void set(const char* name, const std::string& value) {
        remember(name);
        ::setenv(name, value.c_str(), 1);
    }
    void unset(const char* name) {
        remember(name);
        ::unsetenv(name);
    }
    ~Variables() {
        for (const auto& [name, value] : before_) {
            value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
        }
    }

private:
    void remember(const char* name) {
        const char* value = ::getenv(name);
        before_.try_emplace(name, value == nullptr ? std::nullopt : std::optional<std::string>(value));
    }
    std::map<std::string, std::optional<std::string>> before_;
};

class ScratchFolder : public testing::Test {
protected:
    void SetUp() override {
        for (const char* name : {"TIDEMARK_USE_SCRATCH", "TIDEMARK_SCRATCH", "TMPDIR", "XDG_RUNTIME_DIR"}) {
            variables_.unset(name);
        }
    }
    std::string in_folder(const char* name) const { return folder_ / name; }
    fs::path path() const { return fs::path(in_folder("x")).parent_path(); }

    TemporaryFolder folder_;
    Variables variables_;
};

TEST(FileSystem, NetworkFileSystemsAreKnownByTheirType) {
    const std::map<int64_t, std::string_view> types{
        {0x6969, "NFS"},        {0xff534d42, "CIFS"}, {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"},
        {0x19830326, "BeeGFS"}, {0x65735546, "FUSE"}, {0x01021997, "9p"},     {0x00c36400, "CephFS"},
        {0x5346414f, "AFS"},    {0xfe534d42, "SMB"}};
    for (const auto& [type, name] : types) {
        EXPECT_EQ(name, network_file_system(type));
        EXPECT_EQ(name, network_file_system(static_cast<int32_t>(static_cast<uint32_t>(type)))) << "signed f_type";
    }
    for (const int64_t local : {0xef53, 0x58465342, 0x01021994, 0x794c7630, 0x2fc12fc1}) {
        EXPECT_EQ("", network_file_system(local));
    }
}

TEST_F(ScratchFolder, ALocalDestinationNeedsNone) {
    EXPECT_FALSE(reason_for_scratch(in_folder("run.tide")));
    EXPECT_TRUE(fs::is_empty(path())) << "the probe leaves nothing";
    EXPECT_FALSE(reason_for_scratch(in_folder("none/run.tide"))) << "the writer reports the missing folder";
}

TEST_F(ScratchFolder, ADestinationWithoutLocksNeedsOne) {
    const WithoutFileLocks machine(ENOLCK);
    const auto reason = reason_for_scratch(in_folder("run.tide"));
    ASSERT_TRUE(reason);
    EXPECT_NE(std::string::npos, reason->english().find("no file locks (No locks available)")) << reason->english();
    variables_.set("TIDEMARK_USE_SCRATCH", "0");
    EXPECT_FALSE(reason_for_scratch(in_folder("run.tide")));
}

TEST_F(ScratchFolder, AVariableForcesIt) {
    variables_.set("TIDEMARK_USE_SCRATCH", "1");
    EXPECT_TRUE(reason_for_scratch(in_folder("run.tide")));
}

TEST_F(ScratchFolder, TheSelectedFolderIsUsed) {
    variables_.set("TIDEMARK_SCRATCH", path().string());
    const auto created = create_scratch_folder();
    ASSERT_TRUE(created) << created.error().sentence.english();
    EXPECT_EQ(path(), fs::path(*created).parent_path());
    EXPECT_EQ(fs::perms::owner_all, fs::status(*created).permissions());
    std::array<char, 65> machine{};
    ASSERT_EQ(0, ::gethostname(machine.data(), machine.size() - 1));
    EXPECT_NE(std::string::npos, created->find(machine.data())) << *created;
}

TEST_F(ScratchFolder, ASelectedFolderThatCannotBeUsedIsNamed) {
    variables_.set("TIDEMARK_SCRATCH", in_folder("none"));
    const auto missing = find_scratch_parent();
    ASSERT_FALSE(missing);
    EXPECT_NE(std::string::npos, missing.error().sentence.english().find(in_folder("none")));
    variables_.set("TIDEMARK_SCRATCH", path().string());
    const WithoutFileLocks machine(ENOLCK);
    const auto without_locks = find_scratch_parent();
    ASSERT_FALSE(without_locks);
    EXPECT_NE(std::string::npos, without_locks.error().sentence.english().find("no file locks"));
}

TEST_F(ScratchFolder, WithoutALocalFolderTheSentenceSaysWhatToSet) {
    const WithoutFileLocks machine(ENOLCK);
    const auto parent = find_scratch_parent();
    ASSERT_FALSE(parent);
    const std::string sentence = parent.error().sentence.english();
    EXPECT_NE(std::string::npos, sentence.find("Set TIDEMARK_SCRATCH")) << sentence;
    EXPECT_NE(std::string::npos, sentence.find("/var/tmp")) << sentence;
}

TEST_F(ScratchFolder, OnlyLinksToScratchFoldersCount) {
    const std::string scratch = in_folder("tidemark-node7-Ab12Cd/run.tide"), link = in_folder("run.tide");
    fs::create_symlink(scratch, link);
    EXPECT_EQ(scratch, trace_behind_link(link)) << "also if the trace is on another machine";
    const auto opened = open_regular_file(link);
    ASSERT_FALSE(opened);
    EXPECT_NE(std::string::npos, opened.error().sentence.english().find(scratch));
    fs::create_symlink("/elsewhere/run2.tide", in_folder("run2.tide"));
    EXPECT_EQ("", trace_behind_link(in_folder("run2.tide")));
    std::ofstream(in_folder("plain.tide")) << "";
    EXPECT_EQ("", trace_behind_link(in_folder("plain.tide")));
}

TEST_F(ScratchFolder, TheCommandMovesTheLogToo) {
    const std::string place = in_folder("my run.tide");
    EXPECT_EQ("mv -f '" + place + "' /data/", move_command(place, "/data/my run.tide"));
    std::ofstream(place + "-wal") << "log";
    EXPECT_EQ("mv -f '" + place + "' '" + place + "-wal' /data/", move_command(place, "/data/my run.tide"));
}

}  // namespace
}  // namespace tidemark::test
