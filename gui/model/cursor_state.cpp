// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/cursor_state.h"

#include <QElapsedTimer>
#include <utility>

namespace tidemark::gui {

namespace {
// Leaves most of a 16 ms frame for painting all panes.
constexpr double most_milliseconds_on_gui_thread = 4;
constexpr uint32_t most_lasting_on_gui_thread = 50'000;  // allocations
}  // namespace

CursorState::CursorState(QObject* parent)
    : QObject(parent), task_(this, OnNewerRequest::cancel_running, [this](const std::shared_ptr<const Answer>& answer) {
          take(answer);
      }) {}

void CursorState::set_session(Session* session) {
    if (session_) {
        session_->selection().disconnect(this);
    }
    task_.abandon();
    session_ = session;
    state_.reset();
    last_milliseconds_ = 0;
    if (session_) {
        connect(&session_->selection(), &Selection::time_point_changed, this, &CursorState::refresh);
        connect(&session_->selection(), &Selection::device_changed, this, [this] {
            task_.abandon();
            state_.reset();
            refresh();
        });
    }
    refresh();
}

void CursorState::set_active(bool active) {
    active_ = active;
    if (active_ && stale_) {
        refresh();
    }
}

void CursorState::ensure_current() {
    if (session_ && (!state_ || stale_ || state_->point != session_->selection().state().time_point)) {
        task_.abandon();
        compute_now();
    }
}

void CursorState::refresh() {
    stale_ = true;
    if (!session_) {
        stale_ = false;
        emit changed();
        return;
    }
    if (!active_ || scheduled_) {
        return;
    }
    if (is_small()) {
        // Several moves between two frames cost one computation.
        scheduled_ = true;
        QMetaObject::invokeMethod(
            this,
            [this] {
                scheduled_ = false;
                if (session_ && active_ && stale_) {
                    compute_now();
                }
            },
            Qt::QueuedConnection);
        return;
    }
    stale_ = false;
    task_.start([analysis = session_->shared_analysis(), point = session_->selection().state().time_point](Progress&) {
        return compute(*analysis, point);
    });
}

/// The cursor may jump to where much more is alive than before.
bool CursorState::is_small() const {
    const EventNumber event = session_->selection().state().time_point.event;
    const AliveIndex& live = session_->analysis().live();
    const uint32_t lasting = event > live.lasting_end() ? live.lasting_count() : live.lasting_until(event);
    return last_milliseconds_ <= most_milliseconds_on_gui_thread && lasting <= most_lasting_on_gui_thread;
}

std::shared_ptr<const CursorState::Answer> CursorState::compute(const Analysis& analysis, const TimePoint& point) {
    QElapsedTimer timer;
    timer.start();
    MemoryState state = memory_state(analysis.device(), analysis.live(), point);
    return std::make_shared<const Answer>(Answer{std::move(state), static_cast<double>(timer.nsecsElapsed()) / 1e6});
}

void CursorState::compute_now() {
    stale_ = false;
    take(compute(session_->analysis(), session_->selection().state().time_point));
}

void CursorState::take(const std::shared_ptr<const Answer>& answer) {
    auto before = std::exchange(state_, std::shared_ptr<const MemoryState>(answer, &answer->state));
    last_milliseconds_ = answer->milliseconds;
    emit changed();
    // Giving a million blocks back to the system takes a quarter of a frame.
    worker_threads()->start([before = std::move(before)]() mutable { before.reset(); });
}

}  // namespace tidemark::gui
