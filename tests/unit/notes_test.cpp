// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The file of notes: what is written is read, other windows' notes stay, foreign and damaged files are refused.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "storage/notes/notes.h"
#include "tests/unit/sample_trace.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

class Notes : public ::testing::Test {
protected:
    Notes() {
        std::string name = (fs::temp_directory_path() / "notes.XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~Notes() override { fs::remove_all(folder_); }

    NoteFile file(const std::string& fingerprint = "0123") const {
        return {(folder_ / "run.tide").string(), fingerprint, (folder_ / "home").string()};
    }
    std::string bytes() const {
        std::ifstream stream(file().beside_trace());
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    void write(const std::string& text) const { std::ofstream(file().beside_trace()) << text; }

    static Note bookmark(const std::string& title, EventNumber event = 1) {
        Note note;
        note.event = event;
        note.time = event * 1000;
        note.title = title;
        return note;
    }

    fs::path folder_;
};

TEST_F(Notes, AreReadAsTheyWereWritten) {
    EXPECT_TRUE(file().read()->empty());
    Note note = bookmark("the peak \"here\"", 33);
    note.device = 1;
    note.text = "two lines\n\xe5\x86\x85\xe5\xad\x98";
    const auto written = file().put(note);
    ASSERT_TRUE(written);
    const auto read = file().read();
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, *written);
    EXPECT_EQ(read->front().text, note.text);
    EXPECT_EQ(read->front().event, 33);
    EXPECT_EQ(read->front().device, 1);
    EXPECT_NE(bytes().find("\"title\": \"the peak \\\"here\\\"\""), std::string::npos) << "readable by humans";
    EXPECT_FALSE(fs::exists(folder_ / "home"));
}

TEST_F(Notes, AreSortedByTimeAndThenFindings) {
    Note finding;
    finding.finding = "retained-graph#1";
    finding.title = "known";
    ASSERT_TRUE(file().put(finding));
    ASSERT_TRUE(file().put(bookmark("late", 9)));
    const auto notes = file().put(bookmark("early", 2));
    ASSERT_EQ(notes->size(), 3u);
    EXPECT_EQ((*notes)[0].title, "early");
    EXPECT_EQ((*notes)[1].title, "late");
    EXPECT_FALSE((*notes)[2].is_bookmark());
}

TEST_F(Notes, OfTwoWindowsAllStay) {
    const NoteFile one = file(), two = file();
    ASSERT_TRUE(one.put(bookmark("first")));
    const auto seen_by_two = two.put(bookmark("second"));
    ASSERT_EQ(seen_by_two->size(), 2u);
    const Note first = (*seen_by_two)[0].title == "first" ? (*seen_by_two)[0] : (*seen_by_two)[1];

    Note changed = first;
    changed.text = "from one";
    ASSERT_TRUE(one.put(changed, &first));
    changed.text = "from two";
    const auto both = two.put(changed, &first);  // it does not know the change of window one
    ASSERT_EQ(both->size(), 3u) << "neither text is lost";
    ASSERT_EQ(two.remove(first)->size(), 3u) << "a note that was changed meanwhile is not removed unseen";
    ASSERT_EQ(two.remove(both->front())->size(), 2u);
}

TEST_F(Notes, OfManyWritersAtATimeAllStay) {
    std::vector<std::thread> writers;
    for (int writer = 0; writer < 4; ++writer) {
        writers.emplace_back([this] {
            for (int i = 0; i < 20; ++i) {
                EXPECT_TRUE(file().put(bookmark("x")));
            }
        });
    }
    for (std::thread& writer : writers) {
        writer.join();
    }
    EXPECT_EQ(file().read()->size(), 80u);
}

TEST_F(Notes, OfAnotherTraceAreRefusedAndStay) {
    ASSERT_TRUE(file("abcd").put(bookmark("of another run")));
    const std::string before = bytes();
    for (const auto& refused : {file().read(), file().put(bookmark("mine"))}) {
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().sentence.english().find("notes of another trace"), std::string::npos);
    }
    EXPECT_EQ(bytes(), before);
}

TEST_F(Notes, OfANewerVersionOrDamagedAreRefusedAndStay) {
    for (const char* text :
         {"", "{", "[1]", "{\"format\": \"Tidemark notes\"}",
          "{\"format\": \"Tidemark notes\", \"version\": 2, \"trace\": \"0123\", \"notes\": []}",
          "{\"format\": \"Tidemark notes\", \"version\": 1, \"trace\": \"0123\", \"notes\": 5}",
          "{\"format\": \"Tidemark notes\", \"version\": 1, \"trace\": \"0123\", \"notes\": [{\"id\": 1}]}"}) {
        write(text);
        EXPECT_FALSE(file().read()) << text;
        EXPECT_FALSE(file().put(bookmark("x"))) << text;
        EXPECT_EQ(bytes(), text);
    }
}

TEST_F(Notes, GoToTheUsersFolderIfTheTracesFolderCannotBeWritten) {
    if (::geteuid() == 0) {
        GTEST_SKIP() << "root can write every folder";
    }
    const fs::path traces = folder_ / "traces";
    fs::create_directory(traces);
    const NoteFile notes((traces / "run.tide").string(), "0123", (folder_ / "home").string());
    const auto first = notes.put(bookmark("beside", 1));
    ASSERT_TRUE(first);
    ::chmod(traces.c_str(), 0500);
    EXPECT_EQ(notes.put(bookmark("elsewhere", 2))->size(), 2u);
    EXPECT_TRUE(fs::exists(notes.elsewhere()));
    EXPECT_EQ(notes.remove(first->front())->size(), 1u);
    EXPECT_EQ(notes.read()->size(), 1u) << "the removed note is still in the file beside the trace";
    ::chmod(traces.c_str(), 0700);
    EXPECT_EQ(notes.put(bookmark("beside again", 3))->size(), 2u);
    EXPECT_FALSE(fs::exists(notes.elsewhere())) << "all notes are beside the trace again";
}

TEST_F(Notes, InTheUsersFolderCountTogetherWithThoseBesideTheTrace) {
    const NoteFile beside = file();
    ASSERT_TRUE(beside.put(bookmark("beside", 1)));
    // What a window writes that cannot write beside the trace.
    const NoteFile other((folder_ / "missing" / "run.tide").string(), "0123", (folder_ / "home").string());
    ASSERT_TRUE(other.put(bookmark("elsewhere", 2)));
    EXPECT_TRUE(fs::exists(other.elsewhere()));
    const auto all = beside.read();
    ASSERT_EQ(all->size(), 2u);
    ASSERT_EQ(beside.remove(all->back())->size(), 1u);
    EXPECT_EQ(beside.read()->size(), 1u);
    EXPECT_FALSE(fs::exists(other.elsewhere())) << "its notes are beside the trace now";
}

TEST_F(Notes, KnowTheirTraceByItsEvents) {
    const Trace trace = test::sample_trace();
    Trace same = trace;
    same.path = "/elsewhere.tide";
    same.start_utc_ns = 5;
    EXPECT_EQ(trace_fingerprint(trace), trace_fingerprint(same));
    same.devices.front().allocations.block_size.front() += 512;
    EXPECT_NE(trace_fingerprint(trace), trace_fingerprint(same));
}

}  // namespace
}  // namespace tidemark
