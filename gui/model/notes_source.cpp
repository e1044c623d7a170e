// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/notes_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gui/model/explained.h"
#include "gui/model/text.h"
#include "storage/explain/finding_kinds.h"
#include "storage/replay/repeated_step.h"

namespace tidemark::gui {

namespace {

/// "retained-graph#2": the second finding of its kind.
std::string finding_key(const std::vector<Finding>& findings, size_t finding) {
    const auto end = findings.begin() + static_cast<std::ptrdiff_t>(finding) + 1;
    const auto nth = std::count_if(findings.begin(), end,
                                   [&](const Finding& other) { return other.kind == findings[finding].kind; });
    return fmt::format("{}#{}", finding_word(findings[finding].kind), nth);
}

}  // namespace

void NotesSource::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->explanation_source().disconnect(this);
    }
    session_ = session;
    if (session != nullptr) {
        connect(session, &Session::live_changed, this, &NotesSource::reload);
        connect(&session->explanation_source(), &ExplanationSource::changed, this, &NotesSource::changed);
    }
    reload();
}

bool NotesSource::can_change() const { return session_ && session_->has_device() && !session_->is_live(); }

NoteFile NotesSource::file() {
    if (fingerprint_.empty()) {
        fingerprint_ = trace_fingerprint(session_->trace());
    }
    return {session_->trace().path, fingerprint_, folder_.toStdString()};
}

void NotesSource::reload() {
    fingerprint_.clear();
    const bool has_any = can_change() && may_have_notes(session_->trace().path, folder_.toStdString());
    take(has_any ? file().read() : std::vector<Note>());
}

void NotesSource::take(Result<std::vector<Note>> notes) {
    problem_ = notes ? QString() : error_text(notes.error());
    notes_ = notes ? *std::move(notes) : std::vector<Note>();
    emit changed();
}

Note NotesSource::bookmark_at_cursor() const {
    Note note;
    const TimePoint& point = session_->selection().state().time_point;
    note.device = session_->device().device;
    note.event = point.event;
    note.time = time_of(session_->device(), point);
    return note;
}

const Note* NotesSource::at_cursor() const {
    const auto found = std::find_if(notes_.begin(), notes_.end(), [this](const Note& note) {
        return note.is_bookmark() && is_shown(note) && point_of(note) == session_->selection().state().time_point;
    });
    return found == notes_.end() ? nullptr : &*found;
}

Note NotesSource::note_on(int finding) const {
    const auto& findings = session_->explanation_source().explained()->explanation.findings;
    Note note;
    note.device = session_->device().device;
    note.finding = finding_key(findings, static_cast<size_t>(finding));
    const auto known = std::find_if(notes_.begin(), notes_.end(), [&](const Note& other) {
        return other.device == note.device && other.finding == note.finding;
    });
    if (known != notes_.end()) {
        return *known;
    }
    note.title = findings[static_cast<size_t>(finding)].title;
    return note;
}

int NotesSource::finding_of(const Note& note) const {
    const auto explained = session_->explanation_source().explained();
    if (note.is_bookmark() || !explained || !is_shown(note)) {
        return -1;
    }
    const auto& findings = explained->explanation.findings;
    for (size_t i = 0; i < findings.size(); ++i) {
        if (finding_key(findings, i) == note.finding) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

bool NotesSource::is_shown(const Note& note) const {
    return session_ && session_->has_device() && note.device == session_->device().device;
}

/// Notes of earlier versions have the end of the event's state as their time.
TimePoint NotesSource::point_of(const Note& note) const { return point_of(note, session_->device()); }

TimePoint NotesSource::point_of(const Note& note, const DeviceHistory& device) const {
    const EventNumber event = std::clamp<EventNumber>(note.event, 0, device.event_count());
    const bool is_event = event < device.event_count() && note.time == device.time_until(event, note.time);
    const TimePoint point = time_point_at(session_->trace(), device, note.time);
    return point.repeated || (point.between && point.event == event && !is_event) ? point : TimePoint(event);
}

QString NotesSource::place_of(const Note& note) const {
    const auto device = device_of(note);
    return device == session_->trace().devices.end() ? time_point_text(note.time)
                                                     : point_text(session_->trace(), *device, point_of(note, *device));
}

std::vector<DeviceHistory>::const_iterator NotesSource::device_of(const Note& note) const {
    const auto& devices = session_->trace().devices;
    return std::find_if(devices.begin(), devices.end(),
                        [&](const DeviceHistory& device) { return device.device == note.device; });
}

void NotesSource::go_to(const Note& note) {
    const auto& devices = session_->trace().devices;
    const auto device = device_of(note);
    if (device == devices.end()) {
        return;
    }
    session_->selection().select_device(static_cast<int>(device - devices.begin()));
    if (note.is_bookmark()) {
        session_->selection().set_time_point(point_of(note));
    }
}

void NotesSource::put(const Note& note, const Note* before) {
    auto notes = file().put(note, before);
    notes ? take(std::move(notes)) : failed(error_text(notes.error()));
}

void NotesSource::remove(const Note& before) {
    auto notes = file().remove(before);
    notes ? take(std::move(notes)) : failed(error_text(notes.error()));
}

}  // namespace tidemark::gui
