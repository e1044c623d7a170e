// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/read/follow.h"

#include <optional>

#include "storage/read/growing_trace.h"

namespace tidemark {

struct TraceFollower::State {
    WatchedFile file;  // declared before the connection, so closed after it
    TraceFile seen;    ///< state at the last look
    std::optional<Connection> connection;
    std::unique_ptr<GrowingTrace> growing;
    bool ended = false;

    Result<bool> read(Progress& progress);
    void start_over() { growing = std::make_unique<GrowingTrace>(file.path()); }
};

/// Reads new rows. If they contradict earlier rows, no recorder wrote them, and everything is read again.
Result<bool> TraceFollower::State::read(Progress& progress) {
    obey_cancel(*connection, progress);
    auto found = growing->read(*connection, seen, progress);
    if (!found && found.error().kind == ErrorKind::input) {
        start_over();
        found = growing->read(*connection, seen, progress);
    }
    connection->on_progress(nullptr, nullptr);
    if (!found) {
        start_over();
    }
    return found;
}

bool is_being_written(const std::string& path) {
    const auto file = look_at(path);
    return file && file->state == TraceFile::State::being_written;
}

Result<TraceFollower> TraceFollower::open(const std::string& path) {
    auto file = WatchedFile::open(path);
    if (!file) {
        return file.error();
    }
    const TraceFile seen = file->look();
    Progress progress;
    auto connection = open_checked(path, seen, progress);
    if (!connection) {
        return connection.error();
    }
    connection->on_progress(nullptr, nullptr);
    return TraceFollower(std::make_unique<State>(
        State{*std::move(file), seen, *std::move(connection), std::make_unique<GrowingTrace>(path)}));
}

TraceFollower::TraceFollower(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceFollower::TraceFollower(TraceFollower&&) noexcept = default;
TraceFollower& TraceFollower::operator=(TraceFollower&&) noexcept = default;
TraceFollower::~TraceFollower() = default;

Result<std::shared_ptr<const Trace>> TraceFollower::poll(Progress& progress) {
    State& s = *state_;
    if (s.ended) {
        return std::shared_ptr<const Trace>();
    }
    // Must come before the rows are read: the rows then include everything that a writer that has ended had committed.
    s.seen = s.file.look();
    const bool is_last = s.seen.state != TraceFile::State::being_written;
    const auto found = s.read(progress);
    if (!found) {
        return found.error();
    }
    if (!*found) {
        return std::shared_ptr<const Trace>();
    }
    s.ended = is_last || s.growing->has_ended();
    if (s.ended) {
        s.connection.reset();
        return s.growing->take();
    }
    return s.growing->is_empty() ? Result<std::shared_ptr<const Trace>>(nullptr) : s.growing->copy();
}

bool TraceFollower::ended() const { return state_->ended; }

}  // namespace tidemark
