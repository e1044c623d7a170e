// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark metrics: numbers of recorded programs for Prometheus.
#include <memory>
#include <set>

#include "recorder/cli/command.h"
#include "recorder/cli/explained.h"
#include "recorder/cli/job/job_views.h"
#include "recorder/cli/metrics/loopback_server.h"
#include "recorder/cli/metrics/renewed_text.h"
#include "recorder/cli/metrics/trace_metrics.h"
#include "recorder/cli/output.h"
#include "recorder/cli/program.h"
#include "storage/read/read_costs.h"

namespace tidemark::cli {
namespace {

constexpr const char* content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
constexpr CaptureLimits capture_limits{600, size_t{64} << 20};

struct MetricsOptions {
    std::vector<std::string> traces;
    std::string listen;
};

/// `more`: labels in addition to those of the process.
Status add_trace(OpenMetrics& metrics, const std::string& path, const MetricLabels& more, const Words& words,
                 Progress& progress) {
    const auto devices = explain_devices({path, "", std::nullopt}, "", words, progress);
    if (!devices) {
        return devices.error();
    }
    const Trace& trace = devices->front().context->trace();
    const auto costs = read_recording_costs(trace, progress);
    for (const Explained& device : *devices) {
        add_device(metrics, device, costs ? summarize(*costs, trace.duration) : std::nullopt, more);
    }
    return {};
}

/// Adds all recorded programs. What cannot be read now, such as a trace without events, is only listed.
Status add_programs(OpenMetrics& metrics, const Words& words, Progress& progress) {
    const auto programs = recorded_programs();
    if (!programs) {
        return programs.error();
    }
    for (const RecordedProgram& program : *programs) {
        add_program(metrics, program);
        if (!program.is_recorded() || program.trace.empty()) {
            continue;
        }
        if (Status added = add_trace(metrics, program.trace, {}, words, progress); !added) {
            if (progress.canceled) {
                return added;
            }
            print_note(words, words.translate(added.error().sentence));
        }
    }
    return {};
}

/// Adds traces that the user named. Their labels have the names: processes of several runs can have one number.
Status add_named(OpenMetrics& metrics, const std::vector<std::string>& names, const Words& words, Progress& progress) {
    for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
        const auto rank = trace_of_rank(name);
        const auto path = rank ? trace_or_pid(*rank) : rank;
        if (!path) {
            return path.error();
        }
        TIDEMARK_TRY(add_trace(metrics, *path, {{"trace", name}}, words, progress));
    }
    return {};
}

Status print_metrics(const MetricsOptions& options, const Words& words, Progress& progress) {
    OpenMetrics metrics;
    TIDEMARK_TRY(options.traces.empty() ? add_programs(metrics, words, progress)
                                        : add_named(metrics, options.traces, words, progress));
    return print_clean(metrics.text());
}

/// A process of its own reads the traces: a damaged one may need all memory that it is allowed to take.
std::optional<std::string> text_of_child(const MetricsOptions& options, const Words& words) {
    Arguments command{"/proc/self/exe", "metrics", "--"};
    command.insert(command.end(), options.traces.begin(), options.traces.end());
    auto captured = capture(command, capture_limits);
    if (!captured || captured->was_too_slow || captured->was_too_long || captured->ending.exit_status() != 0) {
        print_note(words,
                   words("The metrics could not be renewed: {reason}",
                         with("reason", captured ? captured->errors : words.translate(captured.error().sentence))));
        return std::nullopt;
    }
    return std::move(captured->output);
}

Status serve_metrics(const MetricsOptions& options, const Words& words, const Progress& progress) {
    const auto server = LoopbackServer::listen(options.listen);
    if (!server) {
        return server.error();
    }
    RenewedText text([&] { return text_of_child(options, words); });
    print_message(
        words("Metrics are at http://{address}/metrics. Ctrl-C ends it.", with("address", server->address())) + '\n');
    server->serve(
        [&](const std::string& path) -> HttpResponse {
            if (path != "/metrics") {
                return {404, "text/plain; charset=utf-8", "The metrics are at /metrics.\n"};
            }
            const auto newest = text.get();
            return newest ? HttpResponse{200, content_type, *newest}
                          : HttpResponse{503, "text/plain; charset=utf-8", "The traces cannot be read.\n"};
        },
        progress);
    return {};
}

}  // namespace

void add_metrics_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<MetricsOptions>();
    CLI::App& command = add_command(
        line, "metrics",
        {words("Print numbers of recorded programs for Prometheus and OpenTelemetry"),
         words(
             "Prints, in the text format of OpenMetrics: allocated and reserved memory, the memory breakdown, growth\n"
             "per step, steps, findings by kind and severity, and what the recording costs. Without TRACE, of all\n"
             "programs of this user that are being recorded on this machine. With --listen, serves them to programs\n"
             "on this machine until Ctrl-C; each request gets the numbers of the one before it, or newer ones."),
         "  tidemark metrics\n"
         "  tidemark metrics run.tide > run.prom\n"
         "  tidemark metrics --listen 127.0.0.1:9464"});
    command.add_option("TRACE", options->traces,
                       words("Traces (.tide), ranks of jobs (run.tidejob:3) or process ids of recorded programs"));
    command.add_option("--listen", options->listen,
                       words("Serve the metrics at http://ADDRESS/metrics: 127.0.0.1:PORT or [::1]:PORT"));
    set_work(line, command, [options, words](Progress& progress) {
        return options->listen.empty() ? print_metrics(*options, words, progress)
                                       : serve_metrics(*options, words, progress);
    });
}

}  // namespace tidemark::cli
