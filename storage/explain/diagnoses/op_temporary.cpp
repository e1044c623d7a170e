// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// S4: memory that an operation allocated for itself at the peak and freed: "where does the extra GiB come from?"
#include <algorithm>
#include <string_view>

#include "storage/base/units.h"
#include "storage/explain/backward_passes.h"
#include "storage/explain/composition.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"
#include "storage/text/fact_words.h"
#include "storage/text/referrer_words.h"
#include "storage/timeline/time_point.h"

namespace tidemark {
namespace {

/// A smaller part of the peak needs no explanation.
constexpr double least_part_of_peak = 0.1;
constexpr int64_t least_bytes = 1 << 20;
/// A line that allocates more often does ordinary work of an iteration.
constexpr int64_t most_times = 2;
/// The composition at the peak lists at most this many lines, each with at least this part.
constexpr size_t most_reported = 8;
constexpr double least_part_reported = 0.02;

class Search {
public:
    explicit Search(const AnalysisContext& context) : context_(context), peak_(context.peak()) {}

    const Extremes& peak() const { return peak_; }
    bool is_worth_reporting(int64_t bytes) const {
        return bytes >= least_bytes &&
               static_cast<double>(bytes) >= least_part_of_peak * static_cast<double>(peak_.max);
    }

    /// Returns the temporaries, most bytes first.
    std::vector<AllocationIndex> temporaries() const {
        std::vector<AllocationIndex> found;
        for (const AllocationIndex a : allocated_at(context_, peak_.max_event)) {
            if (!is_worth_reporting(static_cast<int64_t>(context_.device().allocations.block_size[a]))) {
                break;
            }
            if (is_temporary(a) && is_rare(a)) {
                found.push_back(a);
            }
        }
        return found;
    }

    bool is_temporary(AllocationIndex a) const {
        const Categories& categories = context_.graph()->categories;
        const AllocationRef allocation{context_.device_position(), a};
        return categories.first(allocation) == Category::temporary && categories.later(allocation).empty() &&
               context_.device().allocations.free_event[a] != never &&
               !context_.trace().origins[context_.device().allocations.origin[a]].op.empty();
    }

private:
    bool is_rare(AllocationIndex a) const {
        const Allocations& allocations = context_.device().allocations;
        const bool is_backward = context_.trace().origins[allocations.origin[a]].phase == Phase::backward;
        const auto& sites = context_.surviving_allocations().sites();
        return std::any_of(sites.begin(), sites.end(), [&](const Site& site) {
            const bool is_of_backward = context_.trace().origins[site.origin].phase == Phase::backward;
            return site.stack == allocations.stack[a] && is_of_backward == is_backward &&
                   site.total_count <= most_times;
        });
    }

    const AnalysisContext& context_;
    Extremes peak_;
};

/// Builds names of the allocations at the peak.
class Names {
public:
    Names(const AnalysisContext& context, const Words& words) : context_(context), words_(words) {}

    std::string of(AllocationIndex a) const {
        const AllocationRef allocation{context_.device_position(), a};
        if (const std::string name = variable(allocation); !name.empty()) {
            return "`" + name + "`";
        }
        const GraphContext& graph = *context_.graph();
        const Category category = graph.categories.at(allocation, never_happened);
        const std::string& name = graph.categories.name(allocation);
        if (category == Category::gradient) {
            const std::string whose = name.empty() ? owner_of_gradient(a) : name;
            return whose.empty() ? words_("a gradient") : words_("the gradient of `{name}`", with("name", whose));
        }
        const auto line = with("line", line_of(context_.trace(), context_.device().allocations.stack[a]));
        return words_("{what} from {line}", with("what", category_name(words_, category)), line);
    }

private:
    std::string variable(AllocationRef allocation) const {
        const Referrer* referrer = context_.graph()->referrers.in_python(allocation);
        return referrer ? referrer_expression(context_.graph()->tables(), *referrer) : std::string();
    }

    /// Returns the name of the only leaf of that size (for a retained gradient: the result of that node); "" if there
    /// is none, or more than one.
    std::string owner_of_gradient(AllocationIndex a) const {
        const GraphContext& graph = *context_.graph();
        const GraphNodes& nodes = graph.tables().nodes;
        const std::string& op = context_.trace().origins[context_.device().allocations.origin[a]].op;
        const std::string_view maker = std::string_view(op).substr(0, op.find(" > "));
        const bool is_retained = is_retained_gradient(context_, a);
        AllocationRef owner;
        for (NodeIndex node = 0; node < nodes.size(); ++node) {
            const AllocationRef output = nodes.output[node];
            const bool is_wanted = is_retained ? graph.index.type(node) == maker : graph.index.is_leaf(node);
            if (is_wanted && output && output.device == context_.device_position() && !(output == owner) &&
                context_.device().allocations.requested[output.index] == context_.device().allocations.requested[a]) {
                if (owner) {
                    return {};
                }
                owner = output;
            }
        }
        return owner ? variable(owner) : std::string();
    }

    const AnalysisContext& context_;
    const Words& words_;
};

/// Returns "x 1.00 GiB, ..." for the large allocations at the peak; temporaries are listed one by one.
std::string memory_at_peak(const AnalysisContext& context, const Search& search, const Words& words) {
    const Names names(context, words);
    std::vector<std::string> parts;
    int64_t rest = search.peak().max;
    for (const AllocationIndex a : allocated_at(context, search.peak().max_event)) {
        const auto bytes = static_cast<int64_t>(context.device().allocations.block_size[a]);
        if (parts.size() == most_reported ||
            static_cast<double>(bytes) < least_part_reported * static_cast<double>(search.peak().max)) {
            break;
        }
        const std::string& op = context.trace().origins[context.device().allocations.origin[a]].op;
        const std::string name = search.is_temporary(a) ? words("a temporary of {op}", with("op", op)) : names.of(a);
        parts.push_back(words("{bytes} {name}", with("bytes", format_bytes(bytes)), with("name", name)));
        rest -= bytes;
    }
    if (rest > 0) {
        parts.push_back(words("{bytes} other", with("bytes", format_bytes(rest))));
    }
    return words.list(parts);
}

/// Describes what the memory was used for after it was freed.
std::string place_words(const AnalysisContext& context, AllocationIndex a, const Words& words) {
    const DeviceHistory& device = context.device();
    const uint32_t segment = device.allocations.segment[a];
    if (segment == no_segment) {
        return {};
    }
    const auto bytes = with("bytes", format_bytes(static_cast<int64_t>(device.allocations.block_size[a])));
    const EventNumber returned = device.segments[segment].free_event;
    return returned != never
               ? words("Its memory was then returned to the driver (empty_cache()).")
               : words("PyTorch caches these {bytes} for later requests, so nvidia-smi still counts them.", bytes);
}

std::string lifetime_words(const AnalysisContext& context, AllocationIndex a, const Words& words) {
    const DeviceHistory& device = context.device();
    const EventNumber freed = device.allocations.free_event[a];
    const auto left = with("left", format_bytes(context.curves().value(Series::allocated, freed + 1)));
    const int64_t existed = device.free_time(a).value_or(0) - device.alloc_time(a);
    return has_times(context.trace(), device)
               ? words("It existed for {time}, until the next operation had used it; afterwards {left} were allocated.",
                       with("time", format_duration(existed)), left)
               : words("It existed until the next operation had used it; afterwards {left} were allocated.", left);
}

void report(Finding& finding, const AnalysisContext& context, const Search& search, AllocationIndex largest,
            const Words& words) {
    const Allocations& allocations = context.device().allocations;
    const std::string& op = context.trace().origins[allocations.origin[largest]].op;
    const size_t arrow = op.find(" > ");
    const auto bytes = with("bytes", format_bytes(static_cast<int64_t>(allocations.block_size[largest])));
    const auto line = with("line", finding.line);
    const auto operation = with("op", arrow == std::string::npos ? op : op.substr(arrow + 3));
    finding.title = words("{op} needed a temporary of {bytes} at the peak and freed it again", with("op", op), bytes);
    finding.text = {
        arrow == std::string::npos
            ? words("{op}, called at {line}, needed {bytes} for an intermediate result.", operation, line, bytes)
            : words("In the backward pass, the node {node} of {line} executed {op}. Its result of {bytes} is needed "
                    "only until the next node has computed the gradient that it passes on.",
                    operation, line, bytes, with("node", op.substr(0, arrow))),
        lifetime_words(context, largest, words),
        words("Allocated at the peak: {peak} ({parts}).", with("peak", format_bytes(search.peak().max)),
              with("parts", memory_at_peak(context, search, words)))};
    if (const std::string where = place_words(context, largest, words); !where.empty()) {
        finding.text.push_back(where);
    }
}

Finding make_finding(const AnalysisContext& context, const Search& search,
                     const std::vector<AllocationIndex>& temporaries, const Words& words) {
    const AllocationIndex largest = temporaries.front();
    Finding finding = diagnoses::op_temporary.new_finding();
    finding.confidence = Confidence::certain;
    finding.basis = words("The operation and its node were recorded with the allocation.");
    for (const AllocationIndex a : temporaries) {
        finding.bytes += static_cast<int64_t>(context.device().allocations.block_size[a]);
    }
    finding.count = static_cast<int64_t>(temporaries.size());
    set_line(finding, context, context.device().allocations.stack[largest]);
    report(finding, context, search, largest, words);
    finding.evidence = {
        at_allocation(context, words("The temporary"), largest),
        at_event(context, words("The peak"), search.peak().max_event),
        at_event(context, words("The temporary is freed"), context.device().allocations.free_event[largest] + 1)};
    finding.fixes = {{words("If the peak is too high: process the data in parts, with a backward() for each, so that "
                            "the temporaries are smaller."),
                      "", std::nullopt, std::nullopt}};
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    if (!context.graph()) {
        return;
    }
    const Search search(context);
    if (const std::vector<AllocationIndex> temporaries = search.temporaries(); !temporaries.empty()) {
        findings.push_back(make_finding(context, search, temporaries, words));
    }
}

}  // namespace

const Diagnosis diagnoses::op_temporary{FindingKind::op_temporary, Severity::pattern, DiagnosisPhase::observation, run};

}  // namespace tidemark
