// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The allocator's state at the cursor while the cursor moves.
#pragma once

#include <QObject>
#include <QPointer>
#include <memory>

#include "gui/model/latest_only.h"
#include "gui/model/session.h"
#include "storage/replay/memory_state.h"

namespace tidemark::gui {

/// Computes memory_state() of the selected device at the cursor. Small states are computed at once, so that
/// a frame shows the time it is meant for; larger states come from a worker. While no pane is visible
/// (set_active(false)) nothing is computed.
class CursorState : public QObject {
    Q_OBJECT
public:
    explicit CursorState(QObject* parent = nullptr);

    void set_session(Session* session);
    void set_active(bool active);

    /// Returns the newest state; it may lag behind the cursor while a worker runs. Null without a session.
    std::shared_ptr<const MemoryState> state() const { return state_; }
    /// Computes the cursor's state now if it is missing: for export and tests.
    void ensure_current();

signals:
    void changed();

private:
    void refresh();
    void compute_now();
    bool is_small() const;
    struct Answer {
        MemoryState state;
        double milliseconds;
    };
    static std::shared_ptr<const Answer> compute(const Analysis& analysis, const TimePoint& point);
    void take(const std::shared_ptr<const Answer>& answer);

    QPointer<Session> session_;
    std::shared_ptr<const MemoryState> state_;
    LatestOnly<Answer> task_;
    bool active_ = true;
    bool stale_ = false;
    bool scheduled_ = false;
    double last_milliseconds_ = 0;
};

}  // namespace tidemark::gui
