// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/steering.h"

namespace tidemark::recorder {
namespace {

using std::chrono::seconds;

constexpr auto longest_scan = seconds(10), longest_snapshot = seconds(30);
/// A node becomes a row at the second commit after its own, and a row is on the disk when the next one is passed to it.
constexpr int commits_of_snapshot = 4;

}  // namespace

void Steering::serve() {
    for (const ControlServer::Request& request : control_.take_requests()) {
        if (request.name == "pause") {
            pause(request.id);
        } else if (request.name == "resume") {
            resume(request.id);
        } else {
            begin_snapshot(request.id);
        }
    }
    std::erase_if(snapshots_, [this](Snapshot& snapshot) { return advance(snapshot); });
}

void Steering::pause(uint64_t id) {
    const bool was_paused = is_paused();
    if (!was_paused) {
        paused_at_ = clock_.now();
        run_log_.details_paused(*paused_at_);
        header_.details_paused.store(1, std::memory_order_release);
    }
    control_.answer(id, {{"ok", true}, {"changed", !was_paused}});
}

void Steering::resume(uint64_t id) {
    const bool was_paused = is_paused();
    end_pause();
    control_.answer(id, {{"ok", true}, {"changed", was_paused}});
}

void Steering::end_pause() {
    if (is_paused()) {
        header_.details_paused.store(0, std::memory_order_release);
        run_log_.details_resumed(*paused_at_, clock_.now());
        paused_at_.reset();
    }
}

void Steering::begin_snapshot(uint64_t id) {
    Snapshot snapshot;
    snapshot.id = id;
    snapshot.deadline = Clock::now() + longest_snapshot;
    if (header_.serves_scans.load(std::memory_order_acquire) != 0) {
        snapshot.scan = header_.full_scans_wanted.fetch_add(1, std::memory_order_acq_rel) + 1;
    }
    snapshots_.push_back(snapshot);
}

bool Steering::advance(Snapshot& snapshot) {
    const auto now = Clock::now();
    if (snapshot.wanted_to == 0) {
        const uint32_t made = header_.full_scans_made.load(std::memory_order_acquire);
        snapshot.is_scanned = snapshot.scan != 0 && static_cast<int32_t>(made - snapshot.scan) >= 0;
        const bool waits = snapshot.scan != 0 && !snapshot.is_scanned &&
                           header_.serves_scans.load(std::memory_order_relaxed) != 0 &&
                           now < snapshot.deadline - (longest_snapshot - longest_scan);
        if (!waits) {
            snapshot.wanted_to = clock_.now();
            snapshot.commits_left = commits_of_snapshot;
        }
        return false;
    }
    if (snapshot.commits_left > 0 && now < snapshot.deadline) {
        return false;
    }
    const char* scan = snapshot.is_scanned ? "made" : snapshot.scan == 0 ? "none" : "late";
    control_.answer(snapshot.id, {{"ok", snapshot.commits_left == 0},
                                  {"error", snapshot.commits_left == 0 ? "" : "busy"},
                                  {"heap_scan", scan},
                                  {"complete_to_ns", snapshot.complete_to}});
    return true;
}

void Steering::committed(int64_t complete_to) {
    for (Snapshot& snapshot : snapshots_) {
        if (snapshot.wanted_to != 0 && complete_to >= snapshot.wanted_to && snapshot.commits_left > 0) {
            --snapshot.commits_left;
            snapshot.complete_to = snapshot.complete_to == 0 ? complete_to : snapshot.complete_to;
        }
    }
}

void Steering::end() {
    end_pause();
    for (const Snapshot& snapshot : snapshots_) {
        control_.answer(snapshot.id, {{"ok", false}, {"error", "ending"}});
    }
    snapshots_.clear();
    control_.refuse_requests("ending");
}

}  // namespace tidemark::recorder
