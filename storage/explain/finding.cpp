#include "storage/explain/finding.h"

#include <algorithm>
#include <array>

#include "storage/explain/explanation.h"

namespace tidemark {
namespace {

constexpr std::array<std::string_view, finding_kind_count> kinds{"retained-graph",
                                                                 "eval-without-no-grad",
                                                                 "loss-accumulated-with-graph",
                                                                 "hidden-state-not-detached",
                                                                 "create-graph-cycle",
                                                                 "hook-reference-cycle",
                                                                 "hook-retains-activations",
                                                                 "ctx-retains-tensors",
                                                                 "growing-container",
                                                                 "exception-retains-frames",
                                                                 "autocast-cache",
                                                                 "cuda-graph-pools-grow",
                                                                 "non-pytorch-growth",
                                                                 "pinned-memory-growth",
                                                                 "unexplained-growth",
                                                                 "out-of-memory",
                                                                 "fragmentation",
                                                                 "garbage-cycles",
                                                                 "stale-local",
                                                                 "retain-grad",
                                                                 "gradients-not-cleared",
                                                                 "checkpoint-on-gpu",
                                                                 "saved-in-two-dtypes",
                                                                 "pending-free",
                                                                 "empty-cache-thrash",
                                                                 "broadcast-materialized",
                                                                 "workspace-burst",
                                                                 "stray-context",
                                                                 "profiler-overhead",
                                                                 "optimizer-state",
                                                                 "gradient-accumulation",
                                                                 "second-iteration-peak",
                                                                 "reserved-high-water",
                                                                 "outlier-iteration",
                                                                 "released-graph",
                                                                 "op-temporary",
                                                                 "live-variables",
                                                                 "block-reuse",
                                                                 "bounded-cache",
                                                                 "collective-buffers",
                                                                 "steady",
                                                                 "cached-memory",
                                                                 "library-workspace",
                                                                 "private-pools",
                                                                 "cuda-context",
                                                                 "other-processes"};
constexpr std::array<std::string_view, 5> severities{"leak", "failure", "waste", "pattern", "background"};
constexpr std::array<std::string_view, 3> confidences{"certain", "likely", "possible"};
constexpr std::array<std::string_view, 4> courses{"grows", "out-of-memory", "steady", "too-short"};

}  // namespace

std::string_view severity_word(Severity severity) { return severities[static_cast<size_t>(severity)]; }
std::string_view finding_word(FindingKind kind) { return kinds[static_cast<size_t>(kind)]; }
std::string_view confidence_word(Confidence confidence) { return confidences[static_cast<size_t>(confidence)]; }
std::string_view run_trend_word(RunTrend run_trend) { return courses[static_cast<size_t>(run_trend)]; }

std::optional<FindingKind> finding_from_word(std::string_view word) {
    const auto found = std::find(kinds.begin(), kinds.end(), word);
    return found == kinds.end() ? std::nullopt : std::optional(static_cast<FindingKind>(found - kinds.begin()));
}

}  // namespace tidemark
