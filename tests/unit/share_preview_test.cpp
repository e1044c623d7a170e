// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The preview of sharing compared with the copy that is really written, and the notes that go along.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "storage/export/share.h"
#include "storage/import/import.h"
#include "storage/notes/notes.h"
#include "storage/read/file_texts.h"
#include "storage/read/open_trace.h"
#include "tests/unit/temporary_folder.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const Trace> opened(const std::string& path) {
    Progress progress;
    auto trace = open_trace(path, progress);
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().sentence.english());
    return trace ? *trace : nullptr;
}

std::string imported(const test::TemporaryFolder& folder) {
    Progress progress;
    const std::string trace = folder / "adam_steps.tide";
    EXPECT_TRUE(import_snapshot(TIDEMARK_TEST_DATA "/snapshots/adam_steps.pickle", trace, IfExists::fail, progress));
    return trace;
}

void write_copy(const std::string& input, const std::string& output, const ShareRequest& request) {
    Progress progress;
    const auto report = share_trace(input, output, request, IfExists::fail, progress);
    ASSERT_TRUE(report) << report.error().sentence.english();
}

/// Returns every text that the trace file has, whatever its table.
std::set<std::string> file_texts(const std::string& path) {
    std::set<std::string> texts;
    Progress progress;
    EXPECT_TRUE(for_each_text(path, progress, [&](const FileText& text) {
        if (!text.is_blob) {
            texts.emplace(text.value);
        }
        return Status();
    }));
    return texts;
}

TEST(Share, PreviewIsTrueOfTheWrittenCopy) {
    const test::TemporaryFolder folder;
    for (const auto& [name, trace] :
         {std::pair(std::string("snapshot"), imported(folder)),
          std::pair(std::string("eager"), std::string(TIDEMARK_TEST_DATA) + "/recorded/eager.tide")}) {
        for (const Redaction& redaction : {Redaction{true, false, false, false}, Redaction{false, false, true, false},
                                           Redaction{true, true, true, true}}) {
            const ShareRequest request{redaction, {}, {}};
            const std::string output =
                folder / (name + std::to_string(redaction.paths + 2 * redaction.names) + ".tide");
            Progress progress;
            const auto preview = preview_share(trace, request, progress);
            ASSERT_TRUE(preview) << preview.error().sentence.english();
            EXPECT_FALSE(preview->removed.empty());
            const auto report = share_trace(trace, output, request, IfExists::replace, progress);
            ASSERT_TRUE(report);
            EXPECT_EQ(preview->file_bytes, static_cast<int64_t>(fs::file_size(output)));
            EXPECT_EQ(preview->input_bytes, static_cast<int64_t>(fs::file_size(trace)));
            const std::set<std::string> left = file_texts(output), before = file_texts(trace);
            for (const RemovedTexts& removed : preview->removed) {
                for (const RemovedTexts::Text& example : removed.texts) {
                    EXPECT_FALSE(left.contains(example.before)) << example.before << " stays";
                    EXPECT_TRUE(removed.kind == RemovedKind::setting || removed.kind == RemovedKind::source_line ||
                                removed.kind == RemovedKind::free_text || before.contains(example.before))
                        << example.before << " was never there";
                    EXPECT_TRUE(example.after.empty() || left.contains(example.after)) << example.after;
                }
            }
        }
    }
}

TEST(Share, WithNotesTheyAreOfTheCopy) {
    const test::TemporaryFolder folder;
    const std::string trace = imported(folder), whole = folder / "whole.tide", part = folder / "part.tide",
                      without = folder / "without.tide";
    const auto original = opened(trace);
    const NoteFile notes(trace, trace_fingerprint(*original), {});
    for (const EventNumber event : {5, 60}) {
        Note note;
        note.event = event;
        note.time = original->main_device().time_of_state(event);
        note.title = std::to_string(event);
        ASSERT_TRUE(notes.put(note));
    }
    ShareRequest request{Redaction{true, true, true, true}, {}, {}, true};
    write_copy(trace, whole, request);
    const auto notes_of = [](const std::string& path) {
        return NoteFile(path, trace_fingerprint(*opened(path)), {}).read();
    };
    const auto all = notes_of(whole);
    ASSERT_TRUE(all) << all.error().sentence.english();
    EXPECT_EQ(all->size(), 2u);
    request.from = "event:50";
    write_copy(trace, part, request);
    const auto some = notes_of(part);
    ASSERT_TRUE(some);
    ASSERT_EQ(some->size(), 1u) << "the other bookmark is outside";
    EXPECT_EQ(some->front().title, "60");
    EXPECT_EQ(some->front().event, 10);
    request.with_notes = false;
    write_copy(trace, without, request);
    EXPECT_FALSE(fs::exists(without + ".notes.json"));
}

}  // namespace
}  // namespace tidemark
