// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// S14: broadcasting itself takes no memory, but a copy of a broadcast tensor stores every element many times.
#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "storage/base/units.h"
#include "storage/explain/composition.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/element_wise.h"
#include "storage/explain/finding_parts.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 1 << 20;
constexpr double least_part_of_peak = 0.05;
/// Element-wise operations widen a dtype by this factor at most (bool to double). A result that is larger, compared
/// with all its possible inputs, was broadcast.
constexpr uint64_t widest = 8;
/// Only the lines with the largest results are examined.
constexpr size_t most_lines = 16;

/// Copies have as many elements as their source, which shares memory while it is a view.
constexpr std::array copies{"aten::contiguous", "aten::clone", "aten::reshape", "aten::expand_copy"};

bool is_copy(const std::string& op) {
    return std::find(copies.begin(), copies.end(), std::string_view(op)) != copies.end();
}

struct Broadcast {
    AllocationIndex allocation = no_allocation;
    uint64_t largest_operand = 0;  ///< bytes of the largest tensor among its possible inputs
    bool is_copy = false;
    bool is_certain = true;
};

class Search {
public:
    explicit Search(const AnalysisContext& context) : context_(context), allocations_(context.device().allocations) {
        for (const Origin& origin : context.trace().origins) {
            is_element_wise_.push_back(is_element_wise(origin.op));
            is_copy_.push_back(is_copy(origin.op));
        }
    }

    /// Returns the broadcast results, oldest first.
    std::vector<Broadcast> find() {
        std::vector<Broadcast> results;
        for (const AllocationIndex a : largest_of_lines()) {
            Broadcast result{a, 0, is_copy_[allocations_.origin[a]], true};
            examine_operands(result, results);
            if (result.largest_operand > 0 && result.largest_operand * widest < allocations_.requested[a]) {
                results.push_back(result);
            }
        }
        return results;
    }

private:
    std::vector<AllocationIndex> largest_of_lines() const {
        const double least =
            std::max<double>(least_bytes, least_part_of_peak * static_cast<double>(context_.peak().max));
        std::unordered_map<uint64_t, AllocationIndex> largest;
        for (AllocationIndex a = 0; a < allocations_.size(); ++a) {
            const uint32_t origin = allocations_.origin[a];
            if (static_cast<double>(allocations_.block_size[a]) >= least && allocations_.alloc_event[a] >= 0 &&
                (is_element_wise_[origin] || is_copy_[origin])) {
                AllocationIndex& best =
                    largest.try_emplace(uint64_t{allocations_.stack[a]} << 32 | origin, a).first->second;
                best = allocations_.block_size[a] > allocations_.block_size[best] ? a : best;
            }
        }
        std::vector<AllocationIndex> selected;
        for (const auto& [line, a] : largest) {
            selected.push_back(a);
        }
        std::sort(selected.begin(), selected.end(), [&](AllocationIndex a, AllocationIndex b) {
            return allocations_.block_size[a] != allocations_.block_size[b]
                       ? allocations_.block_size[a] > allocations_.block_size[b]
                       : a < b;
        });
        selected.resize(std::min(selected.size(), most_lines));
        std::sort(selected.begin(), selected.end());
        return selected;
    }

    /// Checks for a known broadcast result that may be the source of the copy; then the finding is only likely.
    void examine_operands(Broadcast& result, const std::vector<Broadcast>& known) const {
        const EventNumber made = allocations_.alloc_event[result.allocation];
        context_.analysis().live().for_each_active(made, [&](AllocationIndex a) {
            if (is_scratch(a)) {
                return;
            }
            const bool is_known =
                std::any_of(known.begin(), known.end(), [&](const Broadcast& other) { return other.allocation == a; });
            if (result.is_copy && is_known) {
                result.is_certain = false;
                return;
            }
            result.largest_operand = std::max(result.largest_operand, allocations_.requested[a]);
        });
    }

    /// Workspaces of libraries are never operands.
    bool is_scratch(AllocationIndex a) const {
        return context_.graph() &&
               context_.graph()->categories.at({context_.device_position(), a}, never_happened) == Category::workspace;
    }

    const AnalysisContext& context_;
    const Allocations& allocations_;
    std::vector<bool> is_element_wise_, is_copy_;
};

std::string op_of(const AnalysisContext& context, AllocationIndex a) {
    return context.trace().origins[context.device().allocations.origin[a]].op;
}

std::string broadcast_words(const AnalysisContext& context, const Broadcast& sum, const Words& words) {
    return words(
        "Broadcasting itself takes no memory: {op} at {line} read its operands as if they were larger and allocated "
        "only its result, {bytes}.",
        with("op", op_of(context, sum.allocation)),
        with("line", line_of(context.trace(), context.device().allocations.stack[sum.allocation])),
        with("bytes", format_bytes(static_cast<int64_t>(context.device().allocations.block_size[sum.allocation]))));
}

Finding begin(const AnalysisContext& context, const Broadcast& result, const Words& words) {
    const AllocationIndex a = result.allocation;
    Finding finding = diagnoses::broadcast_materialized.new_finding();
    finding.confidence = result.is_certain ? Confidence::certain : Confidence::likely;
    finding.bytes = static_cast<int64_t>(context.device().allocations.block_size[a]);
    finding.count = 1;
    finding.component = ComponentKind::requested;
    finding.since = context.device().alloc_time(a);
    set_line(finding, context, context.device().allocations.stack[a]);
    if (context.graph()) {
        if (const Referrer* referrer = context.graph()->referrers.of(AllocationRef{context.device_position(), a})) {
            finding.referrer = referrer_words(context.graph()->tables(), words, *referrer);
        }
    }
    finding.evidence = {at_event(context, words("The state before"), context.device().allocations.alloc_event[a]),
                        at_allocation(context, words("The result"), a)};
    return finding;
}

Finding make_copy_finding(const AnalysisContext& context, const Broadcast& copy, const std::vector<Broadcast>& results,
                          const Words& words) {
    Finding finding = begin(context, copy, words);
    const auto bytes = with("bytes", format_bytes(finding.bytes));
    const auto op = with("op", op_of(context, copy.allocation));
    const auto line = with("line", finding.line);
    finding.severity = Severity::waste;
    finding.basis =
        copy.is_certain
            ? words("When the copy was made, no tensor with as many different elements existed.")
            : words("Apart from other broadcast results, no tensor with as many different elements existed.");
    finding.title = words("a broadcast tensor was copied in full: {bytes} at {line}", bytes, line);
    finding.text = {
        words("{op} at {line} allocated {bytes}, but none of its possible inputs exceeds {operand}. expand() returns a "
              "view that reads the same elements repeatedly and takes no memory; a copy of the view stores every "
              "element as often as it occurs.",
              op, line, bytes, with("operand", format_bytes(static_cast<int64_t>(copy.largest_operand))))};
    for (const Broadcast& other : results) {
        if (!other.is_copy && finding.text.size() == 1) {
            finding.text.push_back(broadcast_words(context, other, words));
            finding.evidence.push_back(at_allocation(
                context, words("For comparison: a broadcast that allocated only its result"), other.allocation));
        }
    }
    finding.fixes = {{words("Use the tensor as it is: operations broadcast by themselves. contiguous(), clone(), "
                            "repeat() and reshape() copy an expanded tensor."),
                      "total = wide + flat  # instead of wide.expand(...).contiguous() + flat", finding.bytes,
                      std::nullopt}};
    return finding;
}

Finding make_result_finding(const AnalysisContext& context, const Broadcast& result, const Words& words) {
    Finding finding = begin(context, result, words);
    finding.severity = Severity::pattern;
    finding.basis = words("When the result was allocated, no tensor with as many elements existed.");
    finding.title = words("a broadcast produced a result of {bytes} from much smaller tensors",
                          with("bytes", format_bytes(finding.bytes)));
    finding.text = {broadcast_words(context, result, words),
                    words("None of its possible inputs exceeds {operand}.",
                          with("operand", format_bytes(static_cast<int64_t>(result.largest_operand))))};
    finding.fixes = {{words("If the result is only reduced afterwards: compute it in parts, or use an operation that "
                            "does both (torch.cdist, einsum, a matrix product)."),
                      "", std::nullopt, std::nullopt}};
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    const std::vector<Broadcast> results = Search(context).find();
    bool has_copy = false;
    for (const Broadcast& result : results) {
        if (result.is_copy) {
            findings.push_back(make_copy_finding(context, result, results, words));
            has_copy = true;
        }
    }
    if (!has_copy && !results.empty()) {
        const auto largest =
            std::max_element(results.begin(), results.end(), [&](const Broadcast& a, const Broadcast& b) {
                const auto& size = context.device().allocations.block_size;
                return size[a.allocation] < size[b.allocation];
            });
        findings.push_back(make_result_finding(context, *largest, words));
    }
}

}  // namespace

const Diagnosis diagnoses::broadcast_materialized{FindingKind::broadcast_materialized, Severity::waste,
                                                  DiagnosisPhase::observation, run};

}  // namespace tidemark
