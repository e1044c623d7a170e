// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The user's notes about the open trace, as every pane shows them: read when the trace opens, and again before each
// change, because other windows may show the same trace.
#pragma once

#include <QObject>
#include <QPointer>
#include <memory>
#include <optional>

#include "gui/model/session.h"
#include "storage/notes/notes.h"

namespace tidemark::gui {

/// Thread: GUI; reads and writes a small file at once.
class NotesSource : public QObject {
    Q_OBJECT
public:
    explicit NotesSource(QObject* parent = nullptr) : QObject(parent) {}
    /// Tests set another folder than the user's.
    void set_folder(const QString& folder) { folder_ = folder; }
    void set_session(Session* session);
    bool is_of(const Session* session) const { return session != nullptr && session_ == session; }

    const std::vector<Note>& notes() const { return notes_; }
    /// Returns whether notes can be added: not while the trace grows, because it has no fingerprint yet.
    bool can_change() const;
    /// Why notes are not shown: a foreign or damaged file. Empty: none.
    const QString& problem() const { return problem_; }

    /// Returns a new bookmark at the cursor.
    Note bookmark_at_cursor() const;
    /// Returns the bookmark at the cursor; nullptr if there is none.
    const Note* at_cursor() const;
    /// Returns the note on a finding, as it is or a new one. Requires an explanation.
    Note note_on(int finding) const;
    /// Returns the position of the finding among those of the explanation; -1: it is not explained, or not now.
    int finding_of(const Note& note) const;
    /// Returns whether the note is about the selected device.
    bool is_shown(const Note& note) const;
    /// Returns the point in time of a bookmark on the selected device.
    TimePoint point_of(const Note& note) const;
    /// Returns the point in time of a bookmark in words.
    QString place_of(const Note& note) const;
    /// Moves the cursor to a bookmark; its device is selected, too. Does nothing if the trace has no such device.
    void go_to(const Note& note);

    void put(const Note& note, const Note* before);
    void remove(const Note& before);
    /// Reads the notes again: another window may have changed them.
    void reload();

signals:
    void changed();
    void failed(const QString& sentence);  ///< a change was not written

private:
    /// Makes the fingerprint of the trace, which takes time.
    NoteFile file();
    void take(Result<std::vector<Note>> notes);
    TimePoint point_of(const Note& note, const DeviceHistory& device) const;
    /// Returns the end of the devices if the trace has not that of the note.
    std::vector<DeviceHistory>::const_iterator device_of(const Note& note) const;

    QPointer<Session> session_;
    QString folder_ = QString::fromStdString(notes_folder());
    std::string fingerprint_;  ///< of the trace; made when notes are read or written
    std::vector<Note> notes_;
    QString problem_;
};

}  // namespace tidemark::gui
