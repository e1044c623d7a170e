// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #23: other processes use the same GPU.
#include <algorithm>
#include <map>

#include "storage/base/units.h"
#include "storage/breakdown/device_samples.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/explained_memory.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

/// A process with a context never has less.
constexpr int64_t least_bytes = 64 << 20;
/// A smaller change means that no other process started or ended.
constexpr int64_t much_movement = 128 << 20;

struct Others {
    int64_t now = 0, highest = 0, lowest = 0;
    int64_t highest_time = 0;
    std::map<int64_t, int64_t> highest_of;  ///< by process id
    int64_t count_now = 0;

    bool move() const { return highest - lowest >= much_movement; }
    /// Returns whether this program had the GPU to itself at some time.
    bool had_gpu_alone() const { return lowest < least_bytes; }
};

void add_now(const AnalysisContext& context, Others& others) {
    for (const Component& component : context.row().components) {
        if (component.kind == ComponentKind::other_processes) {
            others.now += component.bytes;
            others.count_now += std::max<int64_t>(component.count, 1);
            others.highest_of[component.pid] = component.bytes;
        }
    }
    others.highest = others.lowest = others.now;
    others.highest_time = context.now_time();
}

Others find_others(const AnalysisContext& context) {
    const DeviceSamples samples(context.trace(), context.device().device);
    const auto& events = context.device().event_time;
    Others others;
    add_now(context, others);
    for (const DeviceSample& sample : samples.all()) {
        if (events.empty() || sample.time < events.front() || sample.time > events.back()) {
            continue;  // this program did not use GPU memory
        }
        for (const DeviceSample::Process& process : sample.others) {
            others.highest_of[process.pid] = std::max(others.highest_of[process.pid], process.bytes);
        }
        const int64_t sum = sample.others_bytes();
        if (sum > others.highest) {
            others.highest = sum;
            others.highest_time = sample.time;
        }
        others.lowest = std::min(others.lowest, sum);
    }
    return others;
}

/// Counts the processes that use little more than a context. The reference is this process's own context.
size_t count_contexts(const AnalysisContext& context, const Others& others) {
    const int64_t own_context = context.row().bytes_of(ComponentKind::context);
    return static_cast<size_t>(
        std::count_if(others.highest_of.begin(), others.highest_of.end(), [&](const auto& other) {
            return own_context > 0 && other.second * 4 >= own_context * 3 && other.second * 4 <= own_context * 5;
        }));
}

std::string names_of(const Others& others, const Words& words) {
    constexpr size_t shown = 5;
    std::vector<std::pair<int64_t, int64_t>> by_bytes(others.highest_of.begin(), others.highest_of.end());
    std::sort(by_bytes.begin(), by_bytes.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<std::string> names;
    for (size_t i = 0; i < std::min(shown, by_bytes.size()); ++i) {
        const auto& [pid, most] = by_bytes[i];
        const auto bytes = with("bytes", format_bytes(most));
        names.push_back(pid == 0 ? words("several processes with up to {bytes} together", bytes)
                                 : words("process {pid} with up to {bytes}", with("pid", pid), bytes));
    }
    if (by_bytes.size() > shown) {
        names.push_back(words.plural(static_cast<int64_t>(by_bytes.size() - shown), "{n} more", "{n} more"));
    }
    return words.list(names);
}

void report(Finding& finding, const AnalysisContext& context, const Others& others, const Words& words) {
    finding.text.push_back(words("NVML, which nvidia-smi reads as well, lists {others} on this GPU.",
                                 with("others", names_of(others, words))));
    if (others.move()) {
        finding.text.push_back(
            words("Their memory ranged from {lowest} to {highest} while this program ran. This explains why the GPU's "
                  "use rose without a tensor of this program.",
                  with("lowest", format_bytes(others.lowest)), with("highest", format_bytes(others.highest))));
    }
    if (count_contexts(context, others) >= 2) {
        finding.text.push_back(words(
            "About the size of a bare CUDA context: {processes}. If they are workers of the same job, they "
            "touched this GPU without working on it; a missing torch.cuda.set_device() causes this.",
            with("processes",
                 words.plural(static_cast<int64_t>(count_contexts(context, others)), "{n} process", "{n} processes"))));
    }
}

void run(const AnalysisContext& context, const Findings& earlier, const Words& words, Findings& findings, Progress&) {
    const Others others = find_others(context);
    if (others.highest < least_bytes) {
        return;
    }
    Finding finding = diagnoses::other_processes.new_finding();
    finding.severity =
        others.had_gpu_alone() && !is_memory_explained(earlier) ? Severity::pattern : Severity::background;
    finding.confidence = Confidence::certain;
    finding.basis = words("NVML's list of processes was sampled a few times a second.");
    const bool are_there = others.now >= least_bytes;
    finding.bytes = are_there ? others.now : others.highest;
    finding.count = are_there ? others.count_now : static_cast<int64_t>(others.highest_of.size());
    finding.component = ComponentKind::other_processes;
    const auto bytes = with("bytes", format_bytes(finding.bytes));
    const auto processes = with("processes", words.plural(finding.count, "{n} other process", "{n} other processes"));
    finding.title =
        others.now >= least_bytes
            ? words("other programs use {bytes} of this GPU ({processes})", processes, bytes)
            : words("other programs used up to {bytes} of this GPU for a while ({processes})", processes, bytes);
    report(finding, context, others, words);
    Evidence most = at_event(
        context, words("The peak of the other processes: {bytes}", with("bytes", format_bytes(others.highest))),
        context.device().events_until(others.highest_time));
    most.time = others.highest_time;
    most.component = ComponentKind::other_processes;
    finding.evidence.push_back(std::move(most));
    finding.evidence.push_back(at_component(
        context,
        words("Other processes at {time_point}: {bytes}", with("time_point", time_point_name(context, words)),
              with("bytes", format_bytes(others.now))),
        ComponentKind::other_processes));
    finding.fixes = {{words("Find out who owns the processes, and agree on who uses which GPU."),
                      "nvidia-smi --query-compute-apps=pid,used_memory,name --format=csv",
                      finding.bytes,
                      {}}};
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::other_processes{FindingKind::other_processes, Severity::background,
                                           DiagnosisPhase::conclusion, run, DiagnosisScope::any_program};

}  // namespace tidemark
