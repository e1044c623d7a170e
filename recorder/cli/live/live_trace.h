// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Follows a trace for `tidemark live`, on threads of its own: one for the numbers, one for the explanation, which takes
// longer.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "recorder/cli/live/live_frame.h"
#include "storage/analysis/analysis.h"
#include "storage/read/follow.h"

namespace tidemark::cli {

class LiveTrace {
public:
    /// Begins to follow the trace. Errors: as TraceFollower::open().
    static Result<std::unique_ptr<LiveTrace>> open(const std::string& path, const Words& words);
    LiveTrace(const LiveTrace&) = delete;
    LiveTrace& operator=(const LiveTrace&) = delete;
    ~LiveTrace();

    /// Returns the newest view.
    LiveView view() const;
    /// Returns the error that ended the following; the view stays as it was before.
    Status status() const;
    /// Waits until there is a view with an explanation, or the trace has no device. Returns false if it was canceled.
    bool wait_for_explanation(const Progress& progress) const;
    /// Shows the next device of the trace.
    void show_next_device() { ++device_wanted_; }

private:
    struct Known;
    LiveTrace(TraceFollower follower, std::string path, const Words& words);
    void follow();
    void explain_often();
    /// Returns false when nothing more will be committed.
    bool poll(Known& known);
    LiveView describe(Known& known);
    void explain(const std::shared_ptr<const Analysis>& analysis);

    TraceFollower follower_;
    const std::string path_;
    const Words words_;
    std::atomic<unsigned> device_wanted_{0};
    Progress progress_;

    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    LiveView view_;
    Status status_;
    bool has_view_ = false, is_stopping_ = false;
    std::shared_ptr<const Analysis> newest_;  ///< for the explanation
    std::thread numbers_, explanation_;
};

}  // namespace tidemark::cli
