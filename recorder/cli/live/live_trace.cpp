// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/live/live_trace.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <utility>

#include "recorder/cli/graph/graph_view.h"
#include "storage/attribution/attribution.h"
#include "storage/breakdown/breakdown.h"
#include "storage/explain/explain.h"
#include "storage/explain/paused_details.h"
#include "storage/read/read_costs.h"
#include "storage/text/fact_words.h"

namespace tidemark::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// The view is drawn every 250 ms.
constexpr auto numbers_period = milliseconds(150);
/// Parts that cost more are renewed less often: at most a fifth of the time.
constexpr int share_of_time = 5;
constexpr auto slow_period = milliseconds(1000), explanation_period = milliseconds(5000);
constexpr size_t steps_compared = 10;
constexpr int64_t rate_window = 10'000'000'000;  // ns

/// Returns the rate of the steps in the last seconds.
std::optional<double> rate_of(const Trace& trace) {
    std::vector<int64_t> ends;
    for (auto step = trace.steps.rbegin(); step != trace.steps.rend(); ++step) {
        if (step->end) {
            if (*step->end < trace.committed_time - rate_window) {
                break;
            }
            ends.push_back(*step->end);
        }
    }
    if (ends.size() < 2 || ends.front() <= ends.back()) {
        return std::nullopt;
    }
    return static_cast<double>(ends.size() - 1) * 1e9 / static_cast<double>(ends.front() - ends.back());
}

/// The states at the ends of the last step and of an earlier one.
struct Compared {
    EventNumber from = 0, to = 0;
    int64_t steps = 0;
};

/// What a repeated step retains gets its rows at the end of the next one. `end`: of the last step.
bool is_incomplete(const DeviceHistory& device, int64_t end) {
    return !device.repeats.empty() && device.repeats.back().end == end;
}

std::optional<Compared> compared_steps(const Trace& trace, const DeviceHistory& device) {
    std::vector<int64_t> ends;
    for (auto step = trace.steps.rbegin(); step != trace.steps.rend() && ends.size() <= steps_compared; ++step) {
        if (step->end && !(ends.empty() && is_incomplete(device, *step->end))) {
            ends.push_back(*step->end);
        }
    }
    if (ends.size() < 2) {
        return std::nullopt;
    }
    return Compared{device.events_until(ends.back()), device.events_until(ends.front()),
                    static_cast<int64_t>(ends.size()) - 1};
}

std::vector<AttributionGroup> groups_at(const Analysis& analysis, EventNumber event) {
    return attribution_at(analysis.trace(), analysis.device(), analysis.live(), event, GroupBy::line);
}

void add_sites(LiveView& view, const Analysis& analysis) {
    std::unordered_map<std::string, int64_t> growth;
    const auto compared = compared_steps(analysis.trace(), analysis.device());
    if (compared) {
        for (const AttributionGroup& group : groups_at(analysis, compared->to)) {
            growth[group.name] += group.block_bytes;
        }
        for (const AttributionGroup& group : groups_at(analysis, compared->from)) {
            growth[group.name] -= group.block_bytes;
        }
    }
    for (const AttributionGroup& group : groups_at(analysis, analysis.device().event_count())) {
        LiveSite& site = view.sites.emplace_back();
        site.name = group.name;
        site.bytes = group.block_bytes;
        site.count = group.allocations;
        view.site_bytes += group.block_bytes;
        if (compared) {
            site.per_step = growth[group.name] / compared->steps;
        }
    }
}

void add_breakdown(LiveView& view, const std::shared_ptr<const Analysis>& analysis, const Words& words) {
    const BreakdownRow row = Breakdown(analysis).at(analysis->device().event_count());
    for (const Component& component : row.components) {
        view.components.emplace_back(component_name(words, component), component.bytes);
    }
    std::stable_sort(view.components.begin(), view.components.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    view.device_used = row.device_used;
    view.device_total = row.device_total;
}

/// A part of the view that is computed less often than the others.
class SlowPart {
public:
    explicit SlowPart(milliseconds period) : period_(period) {}
    template <class Compute>
    void renew(Compute&& compute) {
        if (const auto begin = Clock::now(); begin >= next_) {
            compute();
            next_ = Clock::now() + std::max<Clock::duration>(period_, share_of_time * (Clock::now() - begin));
        }
    }
    void make_due() { next_ = {}; }

private:
    milliseconds period_;
    Clock::time_point next_;
};

}  // namespace

/// What the thread of the numbers knows from before.
struct LiveTrace::Known {
    std::shared_ptr<const Trace> trace;
    unsigned device = 0;
    SlowPart breakdown{milliseconds(500)}, cost{slow_period};
    LiveView slow;  ///< its breakdown and cost
    Clock::duration duration{};
};

Result<std::unique_ptr<LiveTrace>> LiveTrace::open(const std::string& path, const Words& words) {
    auto follower = TraceFollower::open(path);
    if (!follower) {
        return follower.error();
    }
    return std::unique_ptr<LiveTrace>(new LiveTrace(*std::move(follower), path, words));
}

LiveTrace::LiveTrace(TraceFollower follower, std::string path, const Words& words)
    : follower_(std::move(follower)), path_(std::move(path)), words_(words) {
    view_.trace = path_;
    view_.is_recording = true;
    numbers_ = std::thread([this] { follow(); });
    explanation_ = std::thread([this] { explain_often(); });
}

LiveTrace::~LiveTrace() {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
    }
    progress_.canceled = true;
    changed_.notify_all();
    numbers_.join();
    explanation_.join();
}

LiveView LiveTrace::view() const {
    const std::lock_guard lock(mutex_);
    return view_;
}

Status LiveTrace::status() const {
    const std::lock_guard lock(mutex_);
    return status_;
}

bool LiveTrace::wait_for_explanation(const Progress& progress) const {
    std::unique_lock lock(mutex_);
    const auto is_ready = [&] { return !status_ || (has_view_ && (view_.devices == 0 || view_.findings)); };
    while (!is_ready() && !progress.canceled) {
        changed_.wait_for(lock, milliseconds(50));
    }
    return is_ready();
}

void LiveTrace::follow() {
    Known known;
    for (bool goes_on = true; goes_on;) {
        const auto begin = Clock::now();
        goes_on = poll(known);
        known.duration = Clock::now() - begin;
        std::unique_lock lock(mutex_);
        const auto pause = std::max<Clock::duration>(numbers_period, known.duration);
        // After the last commit, only another device changes the view.
        changed_.wait_for(lock, pause, [this] { return is_stopping_; });
        goes_on = (goes_on || known.trace != nullptr) && !is_stopping_;
    }
}

bool LiveTrace::poll(Known& known) {
    const bool has_ended = follower_.ended();
    const auto trace = follower_.poll(progress_);
    if (!trace) {
        const std::lock_guard lock(mutex_);
        if (!is_stopping_) {
            status_ = trace.error();
        }
        changed_.notify_all();
        known.trace = nullptr;
        return false;
    }
    const bool is_new = *trace != nullptr, is_other_device = known.device != device_wanted_;
    if (is_new) {
        known.trace = *trace;
    }
    if (known.trace && (is_new || is_other_device)) {
        LiveView view = describe(known);
        const std::lock_guard lock(mutex_);
        if (!is_other_device) {
            view.findings = std::move(view_.findings);
            view.explained_at = view_.explained_at;
        }
        view_ = std::move(view);
        has_view_ = true;
        changed_.notify_all();
    } else if (!has_ended && !is_new) {
        const std::lock_guard lock(mutex_);
        has_view_ |= !is_being_written(path_);  // a trace without any record
        view_.is_recording &= !has_view_ || view_.devices > 0;
    }
    return !follower_.ended();
}

LiveView LiveTrace::describe(Known& known) {
    const Trace& trace = *known.trace;
    if (known.device != device_wanted_) {
        known.device = device_wanted_;
        known.breakdown.make_due();
    }
    LiveView view;
    view.trace = path_;
    view.is_recording = trace.being_written;
    view.duration = trace.being_written ? trace.committed_time : trace.duration;
    view.details_are_paused = trace.being_written && PausedDetails(trace).open_since().has_value();
    view.devices = static_cast<int>(trace.devices.size());
    view.steps = static_cast<int64_t>(trace.steps.size());
    view.steps_per_second = rate_of(trace);
    known.cost.renew([&] {
        if (const auto costs = read_recording_costs(trace, progress_)) {
            known.slow.cost = summarize(*costs, view.duration);
        }
    });
    view.cost = known.slow.cost;
    if (trace.devices.empty()) {
        return view;
    }
    const DeviceHistory* main = &trace.main_device();
    const auto first = static_cast<size_t>(main - trace.devices.data());
    const DeviceHistory& device = trace.devices[(first + known.device) % trace.devices.size()];
    const auto analysis = std::make_shared<const Analysis>(known.trace, device);
    view.device = device.device;
    view.device_name = device.name;
    view.events = device.event_count();
    view.allocated = analysis->curves().value(Series::allocated, device.event_count());
    view.reserved = analysis->curves().value(Series::reserved, device.event_count());
    view.peak = analysis->curves().peak(Series::allocated).max;
    add_sites(view, *analysis);
    known.breakdown.renew([&] {
        known.slow.components.clear();
        add_breakdown(known.slow, analysis, words_);
    });
    view.components = known.slow.components;
    view.device_used = known.slow.device_used;
    view.device_total = known.slow.device_total;
    const std::lock_guard lock(mutex_);
    newest_ = analysis;
    return view;
}

void LiveTrace::explain_often() {
    std::shared_ptr<const Analysis> explained;
    for (;;) {
        std::shared_ptr<const Analysis> analysis;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return is_stopping_ || (newest_ && newest_ != explained); });
            if (is_stopping_) {
                return;
            }
            analysis = newest_;
        }
        const auto begin = Clock::now();
        explain(analysis);
        const auto pause = std::max<Clock::duration>(explanation_period, share_of_time * (Clock::now() - begin));
        const int device = analysis->device().device;
        explained = std::move(analysis);
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, pause, [&] { return is_stopping_ || (newest_ && newest_->device().device != device); });
    }
}

void LiveTrace::explain(const std::shared_ptr<const Analysis>& analysis) {
    std::shared_ptr<const Graph> graph;
    if (auto read = read_whole_graph(analysis->shared_trace(), progress_)) {
        graph = std::move(*read);
    }
    const AnalysisContext context(analysis, graph);
    const Explanation explanation = tidemark::explain(context, words_, progress_);
    if (progress_.canceled) {
        return;
    }
    std::vector<LiveFinding> findings;
    findings.reserve(explanation.findings.size());
    for (const Finding& finding : explanation.findings) {
        findings.push_back({finding.severity, finding.title});
    }
    const std::lock_guard lock(mutex_);
    if (view_.device == analysis->device().device) {
        view_.findings = std::move(findings);
        view_.explained_at = explanation.time;
    }
    changed_.notify_all();
}

}  // namespace tidemark::cli
