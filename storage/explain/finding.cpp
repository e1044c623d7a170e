#include "storage/explain/finding.h"

#include <algorithm>
#include <array>

#include "storage/explain/explanation.h"

namespace tidemark {
namespace {

constexpr std::array<std::string_view, finding_kind_count> kinds{"retained-graph",
                                                                 "evaluation-builds-graph",
                                                                 "loss-summed",
                                                                 "state-carried",
                                                                 "gradient-cycle",
                                                                 "hook-cycle",
                                                                 "hook-keeps",
                                                                 "ctx-keeps",
                                                                 "tensors-collected",
                                                                 "exception-keeps",
                                                                 "autocast-cache",
                                                                 "private-pools-grow",
                                                                 "library-grows",
                                                                 "pinned-grows",
                                                                 "unexplained-growth",
                                                                 "out-of-memory",
                                                                 "fragmentation",
                                                                 "cycles-wait-for-gc",
                                                                 "previous-round-local",
                                                                 "retained-gradients",
                                                                 "gradients-in-forward",
                                                                 "checkpoint-on-gpu",
                                                                 "saved-twice",
                                                                 "waits-for-stream",
                                                                 "empty-cache-each-round",
                                                                 "broadcast-materialised",
                                                                 "workspace-burst",
                                                                 "stray-context",
                                                                 "recorder-itself",
                                                                 "optimizer-state",
                                                                 "gradient-accumulation",
                                                                 "second-round-peak",
                                                                 "reserved-follows-largest",
                                                                 "longer-round",
                                                                 "released-graph",
                                                                 "op-temporary",
                                                                 "held-by-variables",
                                                                 "block-reuse",
                                                                 "bounded-cache",
                                                                 "collective-buffers",
                                                                 "steady",
                                                                 "cached-idle",
                                                                 "library-workspace",
                                                                 "private-pools",
                                                                 "context",
                                                                 "other-processes"};
constexpr std::array<std::string_view, 5> verdicts{"leak", "failure", "waste", "pattern", "background"};
constexpr std::array<std::string_view, 3> confidences{"certain", "likely", "possible"};
constexpr std::array<std::string_view, 4> courses{"grows", "out-of-memory", "steady", "too-short"};

}  // namespace

std::string_view verdict_word(Verdict verdict) { return verdicts[static_cast<size_t>(verdict)]; }
std::string_view finding_word(FindingKind kind) { return kinds[static_cast<size_t>(kind)]; }
std::string_view confidence_word(Confidence confidence) { return confidences[static_cast<size_t>(confidence)]; }
std::string_view course_word(Course course) { return courses[static_cast<size_t>(course)]; }

std::optional<FindingKind> finding_from_word(std::string_view word) {
    const auto found = std::find(kinds.begin(), kinds.end(), word);
    return found == kinds.end() ? std::nullopt : std::optional(static_cast<FindingKind>(found - kinds.begin()));
}

}  // namespace tidemark
