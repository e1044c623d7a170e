// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark-recorder: runs beside a recorded program and writes its trace. The core library starts it.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "recorder/core/environment.h"
#include "recorder/daemon/control_server.h"
#include "recorder/daemon/first_use.h"
#include "recorder/daemon/job_place.h"
#include "recorder/daemon/recorder.h"
#include "recorder/daemon/trace_name.h"
#include "storage/base/size_limit.h"
#include "storage/text/words.h"

using namespace tidemark;
using namespace tidemark::recorder;

namespace {

std::atomic<int> stop_signal{0};

void listen_to_signals() {
    struct sigaction action {};
    action.sa_handler = [](int signal) { stop_signal.store(signal); };
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGINT, &action, nullptr);
    for (const int ignored : {SIGPIPE, SIGHUP, SIGXFSZ}) {
        signal(ignored, SIG_IGN);
    }
}

std::string for_user(const Sentence& sentence) { return Words(language_of_locale()).translate(sentence); }

void print_error(const Error& error) { fmt::print(stderr, "tidemark-recorder: {}\n", for_user(error.sentence)); }

/// Detaches from the program: its wait() does not see this process, and signals to its group or terminal do not reach
/// it.
bool detach() {
    if (fork() != 0) {
        return false;
    }
    setsid();
    return true;
}

/// The program prints the sentence.
void report_failure(RegionHeader& header, const Sentence& sentence) {
    std::strncpy(header.failure, for_user(sentence).c_str(), sizeof header.failure - 1);
    header.recorder_state.store(RecorderState::failed, std::memory_order_release);
}

/// Returns the path of the trace. If it depends on other processes, waits until the program uses the GPU.
std::string name_of_trace(const Options& options, const ProgramFacts& program, MappedRegion& region,
                          const SessionFolder& session) {
    if (!options.claims_name) {
        return options.output;
    }
    const JobPlace place = job_place_of_process();
    if (is_job_folder(options.output)) {
        std::error_code exists;
        std::filesystem::create_directory(options.output, exists);  // else the trace cannot be created, with a sentence
        return name_in_job(options.output, place, options.program);
    }
    if (place.rank) {
        return name_with_rank(options.output, *place.rank, options.program);
    }
    if (!session.exists()) {
        return options.output;
    }
    region.header().recorder_state.store(RecorderState::ready, std::memory_order_release);
    const bool has_used_gpu = await_first_use(region, options.program, session, stop_signal);
    const pid_t parent = program.ancestry.size() > 1 ? program.ancestry[1] : 0;
    return claim_name(options.output, session, options.program, parent, has_used_gpu);
}

/// Reports the path to the program, which prints the notice.
void report_place(RegionHeader& header, const TracePlace& place) {
    if (place.is_elsewhere()) {
        std::strncpy(header.notice, for_user(place.notice()).c_str(), sizeof header.notice - 1);
    }
    std::strncpy(header.output, place.destination().c_str(), sizeof header.output - 1);
    header.has_output.store(1, std::memory_order_release);
}

Result<StreamingWriter> create_trace(const Options& options, const TickClock& clock, const TracePlace& place) {
    Trace head;
    head.source = fmt::format("recording of process {}", options.program);
    head.writer = "Tidemark " TIDEMARK_VERSION;
    head.start_utc_ns = clock.start_utc_ns();
    const std::string_view limit = environment("TIDEMARK_KEEP");
    const auto most_bytes = parse_size_limit(limit.empty() ? default_size_limit : limit);
    if (!most_bytes) {
        return most_bytes.error();
    }
    // In a scratch folder the name is free.
    return StreamingWriter::create(place.path(), options.force ? IfExists::replace : IfExists::fail, head, *most_bytes);
}

/// Reports a recording that could not begin to the process that waits for its trace.
Error refused(SessionFolder& session, const std::string& output, const Error& error) {
    SessionReport report;
    report.state = "failed";
    report.output = report.place = report.destination = output;
    report.failure = for_user(error.sentence);
    session.report(report);
    return error;
}

Status record(const Options& options, const ProgramFacts& program, MappedRegion& region) {
    TickClock clock;
    SessionFolder session(options.session, options.program);
    session.report({"recording", {}, {}, {}, {}, 0, 0, {}, {}});
    ControlServer control(options.program);
    control.refuse_requests("waiting");
    control.publish({{"ok", true},
                     {"pid", options.program},
                     {"state", "waiting"},
                     {"start_utc_ns", clock.start_utc_ns()},
                     {"output", ""}});
    const std::string output = name_of_trace(options, program, region, session);
    auto place = TracePlace::prepare(output, options.force ? IfExists::replace : IfExists::fail);
    if (!place) {
        return refused(session, output, place.error());
    }
    auto writer = create_trace(options, clock, *place);
    if (!writer) {
        place->abandon();
        return refused(session, output, writer.error());
    }
    report_place(region.header(), *place);
    return tidemark::recorder::Recorder({options, program, region, clock, session, *place, control}, *std::move(writer))
        .run(stop_signal);
}

}  // namespace

int main(int count, char** words) {
    const auto options = read_options(count, words);
    if (!options) {
        print_error(options.error());
        return 2;
    }
    auto region = MappedRegion::map(options->region_file);
    if (!region) {
        print_error(region.error());
        return 4;
    }
    const ProgramFacts program = read_program_facts(options->program);
    if (!detach()) {
        return 0;
    }
    close(options->region_file);
    region->header().recorder_pid.store(getpid(), std::memory_order_relaxed);
    listen_to_signals();
    unsetenv("DEBUGINFOD_URLS");  // names of native frames come from local files only
    const Status status = record(*options, program, *region);
    if (!status) {
        report_failure(region->header(), status.error().sentence);
        return 4;
    }
    region->header().recorder_state.store(RecorderState::finished, std::memory_order_release);
    return 0;
}
