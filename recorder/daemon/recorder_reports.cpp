// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The part of Recorder that reports on the process and on the recording as a whole.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "recorder/core/environment.h"
#include "recorder/daemon/job_place.h"
#include "recorder/daemon/recorder.h"
#include "storage/base/units.h"
#include "storage/base/utf8.h"

namespace tidemark::recorder {

namespace {

using std::chrono::milliseconds;

constexpr auto longest_wait_for_exit_file = milliseconds(500);

bool command_line_is_wanted() { return environment("TIDEMARK_COMMAND_LINE") != "0"; }

}  // namespace

void Recorder::begin_process() {
    process_.pid = options_.program;
    process_.place = job_place_of_process();
    if (command_line_is_wanted()) {
        process_.command_line = cut_text(facts_.command_line, most_text_bytes);
        texts_cut_ += facts_.command_line.size() > most_text_bytes;
    }
    writer_.process(process_);
}

void Recorder::on_rank(const tidemark_record& record) {
    JobPlace& place = process_.place;
    const auto rank = static_cast<int64_t>(record.rank.rank);
    if (place.rank != rank) {
        place.local_rank = std::nullopt;  // a launcher's, of another process
    }
    place.rank = rank;
    place.world_size = static_cast<int64_t>(record.rank.ranks);
    writer_.process(process_);
}

void Recorder::update_role() {
    const std::string role =
        command_line_is_wanted() ? role_of_program(options_.program, facts_.command_line) : std::string();
    if (!role.empty() && role != process_.place.role) {
        process_.place.role = role;
        writer_.process(process_);
    }
}

void Recorder::await_exit_status() {
    if (!ending_->process_ended || ending_->how != ProcessEnd::not_recorded) {
        return;
    }
    const auto deadline = Clock::now() + longest_wait_for_exit_file;
    std::optional<std::string> reported = session_.exit_of_program();
    while (!reported && session_.exists() && Clock::now() < deadline) {
        std::this_thread::sleep_for(milliseconds(5));
        reported = session_.exit_of_program();
    }
    ending_->how = reported ? fact_from_word<ProcessEnd>(*reported) : Fact(ProcessEnd::silent);
    if (ending_->how == ProcessEnd::exited) {
        ending_->exit_status = std::atoll(ending_->how.text.c_str());
    }
}

void Recorder::report_process() {
    if (ending_->process_ended && !process_.end) {
        process_.end = clock_.now();
    } else if (!ending_->process_ended) {
        process_.end = std::nullopt;
    }
    process_.exit_status = ending_->exit_status;
    process_.how_ended = ending_->how;
    writer_.process(process_);
}

void Recorder::report_dropped_records() {
    uint64_t dropped = 0, damages = 0;
    int64_t events = 0;
    for (uint32_t i = 0; i < rings_.size(); ++i) {
        dropped += region_.ring(i).dropped.load(std::memory_order_relaxed);
        damages += rings_[i].reader.damages();
    }
    for (const auto& [device, track] : tracks_) {
        events += track.events_lost();
    }
    const auto others = static_cast<int64_t>(dropped) - events;
    if (others > 0) {
        run_log_.add_data_gap(
            {DataGapKind::recorder_overrun, -1, clock_.now(), others, 0, DataGapReason::records_dropped, {}, {}});
    }
    if (damages > 0) {
        run_log_.add_data_gap({DataGapKind::not_recorded,
                               -1,
                               clock_.now(),
                               static_cast<int64_t>(damages),
                               0,
                               DataGapReason::shared_memory_damaged,
                               {},
                               {}});
    }
}

void Recorder::report_limits() {
    const auto report = [&](int64_t count, DataGapReason reason, DataGapArguments arguments) {
        if (count > 0) {
            run_log_.add_data_gap(
                {DataGapKind::not_recorded, -1, clock_.now(), count, 0, reason, std::move(arguments), {}});
        }
    };
    report(texts_cut_ + graph_.texts_cut(), DataGapReason::texts_cut, {{"limit", fmt::to_string(most_text_bytes)}});
    report(times_refused_, DataGapReason::times_refused, {});
    report(records_of_refused_devices_, DataGapReason::devices_left_out, {{"limit", fmt::to_string(max_devices)}});
}

void Recorder::report_no_events() {
    const bool lacks_driver = run_log_.lacks_driver() && driver_events_.owner() == EventOwner::driver;
    if (run_log_.lacks_allocator() || lacks_driver ||
        std::any_of(tracks_.begin(), tracks_.end(), [](const auto& track) { return track.second.has_data(); })) {
        return;
    }
    // The program itself reports to this process only from the time on when PyTorch initializes CUDA.
    PythonProgress python = session_.python_progress(facts_.ancestry);
    python.hook_ran |= run_log_.has_version("python_version");
    python.torch_imported |= run_log_.has_version("torch_version");
    python.cuda_initialized |= torch_uses_cuda_;
    const bool is_ignored = facts_.runs_python && (session_.exists() || !facts_.option_against_hook.empty());
    if (!python.hook_ran && is_ignored) {
        report_no_events(DataGapReason::hook_ignored, {{"option", facts_.option_against_hook}});
    } else if (python.hook_ran) {
        report_no_events(!python.torch_imported     ? DataGapReason::torch_not_imported
                         : !python.cuda_initialized ? DataGapReason::cuda_not_initialized
                                                    : DataGapReason::nothing_allocated);
    }
}

void Recorder::report_no_events(DataGapReason reason, DataGapArguments arguments) {
    run_log_.add_data_gap(reason, clock_.now(), std::move(arguments));
    const std::string sentence = run_log_.data_gaps().empty() ? "" : run_log_.data_gaps().back();
    std::strncpy(region_.header().end_notice, sentence.c_str(), sizeof region_.header().end_notice - 1);
}

SessionReport Recorder::report(const std::string& state) const {
    SessionReport report;
    report.state = state;
    report.output = place_.opened_at();
    report.place = place_.path();
    report.destination = place_.destination();
    report.how_ended = ending_ ? word_of(ending_->how) : "";
    report.data_gaps = run_log_.data_gaps();
    for (const auto& [device, track] : tracks_) {
        report.events += track.events();
    }
    std::error_code error;
    const auto bytes = std::filesystem::file_size(place_.path(), error);
    report.bytes = error ? 0 : static_cast<int64_t>(bytes);
    return report;
}

void Recorder::publish_status() {
    constexpr auto status_period = milliseconds(200);
    if (!ending_ && Clock::now() - last_status_ < status_period) {
        return;
    }
    last_status_ = Clock::now();
    const SessionReport now = report("");
    const auto cost = cost_.summary(clock_.now());
    control_.publish({{"ok", true},
                      {"pid", options_.program},
                      {"state", ending_                 ? "ending"
                                : steering_.is_paused() ? "paused"
                                                        : "recording"},
                      {"start_utc_ns", clock_.start_utc_ns()},
                      {"output", now.output},
                      {"place", now.place},
                      {"events", now.events},
                      {"bytes", now.bytes},
                      {"cost", cost ? nlohmann::json(cost->of_time) : nlohmann::json()},
                      {"longest_pause_ns", cost ? nlohmann::json(cost->longest_pause) : nlohmann::json()}});
}

Status Recorder::finish() {
    int64_t duration = read_until_, checks = 0;
    for (auto& [device, track] : tracks_) {
        track.report_progress();
        track.report_data_gaps();
        duration = std::max(duration, track.last_time());
        checks += track.checks_made();
    }
    report_devices(std::none_of(tracks_.begin(), tracks_.end(), [](const auto& t) { return t.second.has_data(); }));
    report_dropped_records();
    take_readings();
    gpu_usage_.attribute_quiet_readings(INT64_MAX);  // no later change can disturb the last readings
    for (const auto& [from, until] : driver_.gaps(duration)) {
        run_log_.add_data_gap(DataGapReason::cupti_paused, duration,
                              {{"from_ns", fmt::to_string(from)}, {"until_ns", fmt::to_string(until)}});
    }
    graph_.report_rest(duration);
    cost_.report(duration, true);
    source_.report();
    source_.report_gaps(run_log_, duration);
    report_limits();
    report_no_events();
    writer_.meta("recorded.checks", fmt::format("{}", checks));
    await_exit_status();
    report_process();
    return writer_.finish(duration, true);
}

}  // namespace tidemark::recorder
