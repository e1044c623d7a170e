// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Data that was put on the GPU at the begin and stays for the whole run: a dataset, a table, an adjacency matrix. It
// may be needed; but a user who asks where the memory is wants its line and its variable.
#include <algorithm>
#include <map>

#include "storage/base/units.h"
#include "storage/explain/composition.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_memory.h"
#include "storage/explain/finding_parts.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

constexpr size_t fewest_iterations = 5;
/// The data existed before the iteration of this position began.
constexpr size_t first_iterations = 2;
constexpr int64_t least_bytes = 16 << 20;
/// Of the allocated memory at the end of the last iteration.
constexpr double least_share = 0.25;

/// The data of one line.
struct Data {
    std::vector<AllocationIndex> allocations;  ///< most bytes first
    int64_t bytes = 0;
};

bool is_data(const AnalysisContext& context, AllocationIndex a) {
    const Category category = context.graph()->categories.at({context.device_position(), a}, context.now_time());
    return category == Category::input || category == Category::output || category == Category::unknown;
}

/// Returns the line with most bytes of such data; no bytes if that is a small part of the memory.
Data find(const AnalysisContext& context) {
    const Allocations& all = context.device().allocations;
    const EventNumber begin = context.iterations()[first_iterations].first;
    std::map<FrameId, Data> lines;
    int64_t allocated = 0;
    for (const AllocationIndex a : allocated_at(context, context.now())) {
        const auto bytes = static_cast<int64_t>(all.block_size[a]);
        allocated += bytes;
        if (all.alloc_event[a] < begin && is_data(context, a)) {
            Data& data = lines[context.trace().stacks.site(all.stack[a])];
            data.allocations.push_back(a);
            data.bytes += bytes;
        }
    }
    const auto largest = std::max_element(lines.begin(), lines.end(),
                                          [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; });
    const bool is_much = largest != lines.end() && largest->second.bytes >= least_bytes &&
                         static_cast<double>(largest->second.bytes) >= least_share * static_cast<double>(allocated);
    return is_much ? std::move(largest->second) : Data{};
}

/// Returns code that moves what the path leads to; "" if that is unknown, or several tensors of a container.
/// `referrer`: nullptr if it is unknown.
std::string code_to_move(const GraphTables& tables, const Referrer* referrer, int64_t count) {
    if (referrer == nullptr || (count > 1 && container_end(referrer->links) < referrer->links.size())) {
        return {};
    }
    const std::string expression = object_expression(tables, referrer->links, referrer->links.size());
    return expression + " = " + expression + ".cpu()";
}

Finding make_finding(const AnalysisContext& context, const Data& data, const Words& words) {
    const AllocationIndex largest = data.allocations.front();
    Finding finding = diagnoses::resident_data.new_finding();
    finding.confidence = Confidence::certain;
    finding.basis = words(
        "The allocator's events show that these tensors were allocated before the third {iteration} and not "
        "freed.",
        with("iteration", iteration_words(context.iterations().source(), words)));
    finding.bytes = data.bytes;
    set_allocations(finding, context, data.allocations, context.now());
    set_line(finding, context, context.device().allocations.stack[largest]);
    const Referrer* referrer = context.graph()->referrers.in_python(AllocationRef{context.device_position(), largest});
    const auto bytes = with("bytes", format_bytes(data.bytes));
    const auto line = with("line", finding.line);
    const auto tensors = with("tensors", words.plural(finding.count, "{n} tensor", "{n} tensors"));
    finding.title = words("{bytes} of {line} stay on the GPU for the whole run", bytes, line);
    finding.text = {
        words("{line} allocated {tensors} with {bytes} before the third {iteration}. At {time_point} all of it "
              "still exists. It is no parameter, buffer, gradient or optimizer state.",
              line, tensors, bytes, with("iteration", iteration_words(context.iterations().source(), words)),
              with("time_point", time_point_name(context, words)))};
    if (referrer != nullptr) {
        finding.referrer = finding.count == 1 ? path_words(context.graph()->tables(), words, *referrer)
                                              : referrer_words(context.graph()->tables(), words, *referrer);
    }
    finding.evidence = {
        at_allocation(context, words("The largest of them is allocated"), largest),
        at_event(context,
                 words("They still exist at {time_point}", with("time_point", time_point_name(context, words))),
                 context.now())};
    finding.fixes = {{words("If the work needs only parts at a time, or nothing any more: keep it in host memory, or "
                            "delete what refers to it."),
                      code_to_move(context.graph()->tables(), referrer, finding.count), data.bytes, std::nullopt}};
    finding.unknowns = {words("The recording does not show which tensors an operation reads.")};
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    if (!context.graph() || context.iterations().size() < fewest_iterations) {
        return;
    }
    if (find_finding(findings, FindingKind::op_temporary)) {
        return;  // whose operands are the data
    }
    if (const Data data = find(context); data.bytes > 0) {
        findings.push_back(make_finding(context, data, words));
    }
}

}  // namespace

const Diagnosis diagnoses::resident_data{FindingKind::resident_data, Severity::pattern, DiagnosisPhase::observation,
                                         run};

}  // namespace tidemark
