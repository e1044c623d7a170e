// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The user's notes about a trace: bookmarks of points in time, and notes on findings. They are a JSON file beside the
// trace, never a part of it: "run.tide.notes.json".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/base/result.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Notes on findings have no point in time, bookmarks no finding.
struct Note {
    std::string id;  ///< unique; empty: new
    int device = 0;  ///< PyTorch's index
    EventNumber event = 0;
    int64_t time = 0;     ///< ns since trace start
    std::string finding;  ///< "retained-graph#2": the second finding of its kind; empty: a bookmark
    std::string title, text;
    std::string changed;  ///< UTC: "2026-11-26T17:05:09.123Z"

    bool is_bookmark() const { return finding.empty(); }
    bool operator==(const Note&) const = default;
};

/// The events of a trace as a number. Redacted copies of the whole trace have the same; a trace that grows changes it.
std::string trace_fingerprint(const Trace& trace);

/// The notes of one trace. Holds no file open. Thread: any, one at a time; other processes may change the same notes.
class NoteFile {
public:
    /// `folder`: where notes go if the folder of the trace cannot be written; notes_folder() unless a test says more.
    NoteFile(const std::string& trace_path, std::string fingerprint, const std::string& folder);

    const std::string& beside_trace() const { return beside_; }
    const std::string& elsewhere() const { return elsewhere_; }

    /// Reads all notes, bookmarks by time, then those on findings. No file: no notes. Errors (input): the file is of
    /// another trace, of a newer version, or damaged.
    Result<std::vector<Note>> read() const;
    /// Adds a note, or changes the one with its id, and returns all. `before` is the note as it was when the user began
    /// to change it: if the file has another text by now, both stay. Reads the file again first, so notes that other
    /// windows have added stay. Errors: as read(); no folder can be written (environment).
    Result<std::vector<Note>> put(Note note, const Note* before = nullptr) const;
    /// Removes a note, unless it was changed since `before` was read, and returns all.
    Result<std::vector<Note>> remove(const Note& before) const;
    /// Replaces all notes: for a copy of the trace. Writes only beside the trace. Errors: as read() and put().
    Status write_all(const std::vector<Note>& notes) const;

private:
    Status write(const std::vector<Note>& notes) const;
    template <class Change>
    Result<std::vector<Note>> change(Change&& apply) const;

    std::string beside_, elsewhere_, fingerprint_, trace_name_;
};

/// Returns whether there is a file that may have notes about the trace. To find out without its fingerprint is far
/// faster, and most traces have no notes. `folder`: as for NoteFile.
bool may_have_notes(const std::string& trace_path, const std::string& folder);

/// Returns the user's folder for notes that cannot be beside their trace; empty without a home folder.
std::string notes_folder();

}  // namespace tidemark
