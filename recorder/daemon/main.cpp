// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark-recorder: runs beside a recorded program and writes its trace. The core library starts it.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "recorder/daemon/recorder.h"
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

void print_error(const Error& error) {
    fmt::print(stderr, "tidemark-recorder: {}\n", Words(language_of_locale()).translate(error.sentence));
}

/// Detaches from the program: its wait() does not see this process, and signals to its group or terminal do not reach
/// it.
bool detach() {
    if (fork() != 0) {
        return false;
    }
    setsid();
    return true;
}

/// In English: the program prints it among its own output.
void report_failure(RegionHeader& header, const std::string& sentence) {
    std::strncpy(header.failure, sentence.c_str(), sizeof header.failure - 1);
    header.recorder_state.store(RecorderState::failed, std::memory_order_release);
}

Status record(const Options& options, MappedRegion& region) {
    TickClock clock;
    Trace head;
    head.source = fmt::format("recording of process {}", options.program);
    head.writer = "Tidemark " TIDEMARK_VERSION;
    head.start_utc_ns = clock.start_utc_ns();
    auto writer = StreamingWriter::create(options.output, options.force ? IfExists::replace : IfExists::fail, head);
    if (!writer) {
        return writer.error();
    }
    return tidemark::recorder::Recorder(options, region, clock, *std::move(writer)).run(stop_signal);
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
    if (!detach()) {
        return 0;
    }
    close(options->region_file);
    listen_to_signals();
    const Status status = record(*options, *region);
    if (!status) {
        report_failure(region->header(), status.error().sentence.english());
        return 4;
    }
    region->header().recorder_state.store(RecorderState::finished, std::memory_order_release);
    return 0;
}
