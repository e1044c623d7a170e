// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// S5: empty_cache() in each iteration: the returned memory is requested again at once.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/returned_memory.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

constexpr size_t fewest_calls = 3;
/// Calls that take a smaller part (1 / 100) of the time do not matter.
constexpr int64_t least_part_of_time = 100;

struct Sum {
    int64_t bytes = 0, taken_again = 0, free_time = 0, ask_time = 0, largest = 0;
    bool times_known = true;
    bool have_stacks = true;
};

Sum sum_of(const std::vector<ReturnedMemory>& calls) {
    Sum sum;
    for (const ReturnedMemory& call : calls) {
        sum.bytes += call.bytes;
        sum.taken_again += call.taken_again;
        sum.largest = std::max(sum.largest, call.bytes);
        sum.ask_time += call.ask_time;
        sum.free_time += call.free_time.value_or(0);
        sum.times_known &= call.free_time.has_value();
        sum.have_stacks &= call.stack != 0;
    }
    return sum;
}

/// Says nothing without times of the driver: the time between two events includes other work.
std::string time_words(const Words& words, const Sum& sum) {
    return sum.times_known
               ? words(
                     "Returning the memory took {free} in the driver, during which the GPU idles; "
                     "requesting it again took at most {ask}.",
                     with("free", format_duration(sum.free_time)), with("ask", format_duration(sum.ask_time)))
               : std::string();
}

bool take_little_time(const AnalysisContext& context, const std::vector<ReturnedMemory>& calls, const Sum& sum) {
    const DeviceHistory& device = context.device();
    const int64_t passed = device.time_of_state(calls.back().event) - device.time_of_state(calls.front().event);
    return sum.times_known && (sum.free_time + sum.ask_time) * least_part_of_time < passed;
}

/// Returns the calls that the program can leave out. The capture of a CUDA graph calls empty_cache() itself.
std::vector<ReturnedMemory> calls_of_program(const AnalysisContext& context) {
    const StackTable& stacks = context.trace().stacks;
    std::vector<ReturnedMemory> calls = returned_memory(context);
    std::erase_if(calls,
                  [&](const ReturnedMemory& call) { return has_torch_function(stacks, call.stack, "cuda/graphs.py"); });
    return calls;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    const std::vector<ReturnedMemory> calls = calls_of_program(context);
    const Sum sum = sum_of(calls);
    // The last call of a run may return memory that is no longer needed.
    if (calls.size() < fewest_calls || calls.size() * 2 < context.iterations().size() ||
        sum.taken_again * 2 < sum.bytes) {
        return;
    }
    Finding finding = diagnoses::empty_cache_thrash.new_finding();
    finding.severity = take_little_time(context, calls, sum) ? Severity::pattern : Severity::waste;
    finding.confidence = sum.have_stacks ? Confidence::certain : Confidence::likely;
    finding.basis =
        sum.have_stacks
            ? words("The allocator's events show what was returned to the driver and what was requested again.")
            : words(
                  "The allocator's events show what was returned to the driver and what was requested again; that "
                  "empty_cache() returned it is inferred, because the events have no stack.");
    finding.count = static_cast<int64_t>(calls.size());
    finding.bytes = sum.largest;
    finding.component = ComponentKind::cached_segments;
    set_line(finding, context, calls.back().stack);
    const auto count = with("calls", format_count(finding.count));
    finding.title =
        words("empty_cache() was called {calls} times, and most of the returned memory was requested again", count);
    finding.text = {
        words.sentences(
            {words("{calls} calls of torch.cuda.empty_cache() returned {bytes} to the driver in total; {again} were "
                   "requested again before the next call.",
                   count, with("bytes", format_bytes(sum.bytes)), with("again", format_bytes(sum.taken_again))),
             time_words(words, sum)}),
        words("The peak does not change: each {iteration} needs the same memory again. Between the calls other "
              "programs can take the memory; the next {iteration} may then end with an out-of-memory error.",
              with("iteration", iteration_words(context.iterations().source(), words)))};
    finding.evidence.push_back(at_event(context, words("Before the first call"), calls.front().event));
    finding.evidence.push_back(at_event(context, words("Before the last call"), calls.back().event));
    finding.evidence.push_back(
        at_component(context, words("Cached memory at the end"), ComponentKind::cached_segments));
    finding.fixes = {
        {words("Remove the call from the loop. PyTorch reuses cached memory for the next tensors."), "", {}, {}},
        {words("If other programs need the memory: call it once, after a phase with a much higher peak than the phases "
               "that follow (a large validation batch, loading a checkpoint)."),
         "torch.cuda.empty_cache()",
         sum.largest,
         {}}};
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::empty_cache_thrash{FindingKind::empty_cache_thrash, Severity::waste,
                                              DiagnosisPhase::observation, run, DiagnosisScope::caching_allocator};

}  // namespace tidemark
