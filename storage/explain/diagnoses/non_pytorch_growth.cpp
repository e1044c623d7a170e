// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #24: the memory of a library grows outside PyTorch's allocator.
#include <algorithm>
#include <cmath>

#include "storage/base/units.h"
#include "storage/breakdown/driver_components.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/driver_memory.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

/// Without driver calls only NVML shows the growth. It counts the whole process, so the rise must be clear.
constexpr int64_t least_unknown_rise = 64 << 20;
constexpr size_t fewest_samples = 8;
constexpr size_t most_samples = 256;

Finding growth(const Words& words) {
    Finding finding = diagnoses::non_pytorch_growth.new_finding();
    finding.fixes = {
        {words("Free what the extension allocates, or allocate it once and reuse it in each iteration."), "", {}, {}},
        {words("Let the extension allocate through PyTorch, which reuses freed memory."),
         "at::Tensor workspace = torch::empty({bytes}, torch::dtype(torch::kUInt8).device(torch::kCUDA));",
         {},
         {}}};
    return finding;
}

/// Returns whether the library keeps memory for each thread that calls it, as long as the thread exists: PyTorch gives
/// each thread its own handle.
bool has_memory_per_thread(const LibraryMemory& library) {
    return library.is_of("libcublas") || library.is_of("libcudnn") || library.is_of("libcusolver") ||
           library.is_of("libcusparse");
}

/// Says that threads are the cause. Threads that never return are a leak of their own; this memory is a consequence.
void describe_threads(Finding& finding, const Findings& earlier, const Words& words) {
    finding.text.push_back(
        words("PyTorch gives each thread that calls this library a handle of its own, and the library keeps memory "
              "for each handle. So there are more and more threads that do not end."));
    finding.fixes = {{words("End threads that are done, or let the same few threads do all the work."),
                      "with ThreadPoolExecutor(max_workers=4) as pool:\n    results = pool.map(work, items)",
                      {},
                      {}}};
    const bool has_cause = std::any_of(earlier.begin(), earlier.end(), [](const Finding& other) {
        return other.kind == FindingKind::unfinished_calls && other.severity == Severity::leak;
    });
    if (has_cause) {
        finding.severity = Severity::pattern;
        finding.text.push_back(words("It is a consequence of the calls that have not returned: see that finding."));
    }
}

/// Returns the bytes of lines that allocated several times: a single allocation belongs to the library's start.
int64_t growing_bytes(const LibraryMemory& library) {
    int64_t bytes = 0;
    for (const DriverAllocation* a : library.alive) {
        bytes += a->stack == library.stack ? static_cast<int64_t>(a->bytes) : 0;
    }
    return std::max(bytes, library.trend.rise);
}

/// Describes growth from iteration to iteration.
void describe_per_iteration(Finding& finding, const AnalysisContext& context, const LibraryMemory& library,
                            const Words& words) {
    finding.basis = words("Each driver call was recorded over {iterations} iterations.",
                          with("iterations", format_count(static_cast<int64_t>(context.iterations().size()))));
    finding.per_iteration = std::llround(library.trend.per_iteration);
    set_since(finding, context.iterations(), growth_begin(context, library));
    const auto name = with("library", library_words(words, library.name));
    const auto each = with("each", each_iteration(context.iterations().source(), words));
    const auto bytes = with("bytes", format_bytes(*finding.per_iteration));
    finding.title = words("memory of {library} outside PyTorch's allocator grows by {bytes} {each}", name, bytes, each);
    finding.text = {words("Memory of {library} grows by {bytes} {each} and is not freed: {total} in {pieces} so far.",
                          name, bytes, each, with("total", format_bytes(finding.bytes)),
                          with("pieces", words.plural(finding.count, "{n} allocation", "{n} allocations")))};
    add_growth_evidence(finding, context, library, words);
}

/// Describes growth of a program whose iterations are unknown, such as one without PyTorch.
void describe_per_allocation(Finding& finding, const LibraryMemory& library, const Words& words) {
    finding.basis = words("Each driver call was recorded.");
    finding.since = library.taken.front()->time;
    const auto name = with("library", library_words(words, library.name));
    const auto total = with("total", format_bytes(finding.bytes));
    const auto taken =
        with("taken", words.plural(static_cast<int64_t>(library.taken.size()), "{n} allocation", "{n} allocations"));
    finding.title = words("memory of {library} grows: {total} are not freed", name, total);
    finding.text = {words("Of {taken} by {library}, {alive} were not freed: {total}. Their total rises to the end.",
                          taken, name, total, with("alive", format_count(finding.count)))};
    Evidence newest;
    newest.text = words("The newest allocation: {bytes} at {time}",
                        with("bytes", format_bytes(static_cast<int64_t>(library.alive.back()->bytes))),
                        with("time", format_time_point(library.alive.back()->time)));
    newest.time = library.alive.back()->time;
    newest.stack = library.alive.back()->stack;
    finding.evidence.push_back(std::move(newest));
}

Finding make_library_finding(const AnalysisContext& context, const LibraryMemory& library, const Findings& earlier,
                             const Words& words) {
    Finding finding = growth(words);
    finding.confidence = Confidence::certain;
    finding.bytes = growing_bytes(library);
    finding.count = static_cast<int64_t>(library.alive.size());
    finding.component = ComponentKind::library;
    set_line(finding, context, library.stack);
    context.iterations().empty() ? describe_per_allocation(finding, library, words)
                                 : describe_per_iteration(finding, context, library, words);
    finding.text.push_back(
        words("PyTorch does not know this memory: nvidia-smi shows it; torch.cuda.memory_allocated() does not count "
              "it, and empty_cache() does not free it."));
    if (!finding.line.empty()) {
        finding.text.push_back(words("The calls come from {line}.", with("line", finding.line)));
    }
    if (has_memory_per_thread(library)) {
        describe_threads(finding, earlier, words);
    }
    for (Fix& fix : finding.fixes) {
        fix.bytes = finding.bytes;
        fix.per_iteration = finding.per_iteration;
    }
    finding.evidence.push_back(
        at_component(context, words("Accumulated by {time_point}", with("time_point", time_point_name(context, words))),
                     ComponentKind::library));
    return finding;
}

/// Memory that the process uses beyond all known memory, at the times of the NVML samples.
struct Unknown {
    std::vector<int64_t> times, bytes;
};

Unknown unknown_of_process(const AnalysisContext& context) {
    std::vector<int64_t> times;
    for (const Sample& sample : context.trace().samples) {
        if (sample.device == context.device().device && !sample.pid && sample.time <= context.now_time()) {
            times.push_back(sample.time);
        }
    }
    Unknown unknown;
    const size_t step = times.size() / most_samples + 1;
    for (size_t i = 0; i < times.size(); i += step) {
        if (const auto bytes = unexplained_at(context, times[i])) {
            unknown.times.push_back(times[i]);
            unknown.bytes.push_back(*bytes);
        }
    }
    return unknown;
}

void report_unknown_growth(const AnalysisContext& context, const Words& words, Findings& findings) {
    const Unknown unknown = unknown_of_process(context);
    const Trend trend = find_trend(unknown.bytes, 1 << 20);
    if (unknown.bytes.size() < fewest_samples || context.iterations().empty() || trend.shape != Shape::rising ||
        trend.rise < least_unknown_rise) {
        return;
    }
    Finding finding = growth(words);
    finding.confidence = Confidence::likely;
    finding.basis = words("The growth is inferred from NVML's figures; driver calls were not recorded.");
    finding.bytes = trend.rise;
    finding.component = ComponentKind::unknown;
    finding.since = unknown.times[trend.since];
    const EventNumber first = context.device().events_until(*finding.since);
    const int64_t from = std::max<int64_t>(context.iterations().at(first), 0);
    const int64_t iterations = std::max<int64_t>(static_cast<int64_t>(context.iterations().size()) - from, 1);
    finding.per_iteration = trend.rise / iterations;
    finding.title =
        words("non-PyTorch memory grows by {bytes} {each}", with("bytes", format_bytes(*finding.per_iteration)),
              with("each", each_iteration(context.iterations().source(), words)));
    finding.text = {
        words("NVML shows that the process's memory grew by {bytes} since {time}, and PyTorch's segments do not "
              "account for it: a library or an extension allocates from the driver.",
              with("bytes", format_bytes(trend.rise)), with("time", format_time_point(*finding.since)))};
    finding.evidence = {
        at_event(context, words("The growth begins"), first),
        at_component(context, words("Accumulated by {time_point}", with("time_point", time_point_name(context, words))),
                     ComponentKind::unknown)};
    finding.unknowns = {
        words("The library that allocates was not recorded. `tidemark record` with the driver part records each call, "
              "unless another tool uses CUPTI.")};
    findings.push_back(std::move(finding));
}

void run(const AnalysisContext& context, const Findings& earlier, const Words& words, Findings& findings, Progress&) {
    if (!has_driver_calls(context.trace(), context.device().device)) {
        report_unknown_growth(context, words, findings);
        return;
    }
    for (const LibraryMemory& library : device_memory_by_library(context)) {
        // Segments of PyTorch's allocator, whose own events were not recorded.
        const bool is_allocator = library.is_of("libc10_cuda") && context.device().event_count() == 0;
        const bool is_reported = library.is_of("nccl") && !context.iterations().empty();  // by process_groups_grow
        if (library.grows() && !library.alive.empty() && !is_reported && !is_allocator) {
            findings.push_back(make_library_finding(context, library, earlier, words));
        }
    }
}

}  // namespace

const Diagnosis diagnoses::non_pytorch_growth{FindingKind::non_pytorch_growth, Severity::leak,
                                              DiagnosisPhase::comparison, run, DiagnosisScope::caching_allocator};

}  // namespace tidemark
