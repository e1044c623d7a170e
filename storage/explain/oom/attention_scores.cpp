// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Attention that stores its scores, a matrix with the square of the sequence's length.
#include <algorithm>
#include <set>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/oom/oom_answer.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// The scores and the request must be at least this part (1 / 4) of the memory in use and the request.
constexpr int64_t least_part = 4;

bool is_softmax(std::string_view name) {
    const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
    // log_softmax belongs to a loss.
    return (has("softmax") && !has("log_softmax")) || (has("SoftmaxBackward") && !has("LogSoftmax"));
}

/// A function outside of PyTorch, without the line.
using Function = std::pair<StringId, StringId>;

Function function_of(const OomCase& oom, StackId stack) {
    const Frame& frame = oom.stacks().frame(calling_frame(oom.stacks(), stack));
    return {frame.function, frame.file};
}

/// Returns the functions that multiply matrices and call a softmax, which attention does.
std::set<Function> functions_of_attention(const OomCase& oom) {
    std::set<Function> softmax, products;
    const auto& origins = oom.context().trace().origins;
    for (AllocationIndex a = 0; a < oom.allocations().size(); ++a) {
        const std::string& op = origins[oom.allocations().origin[a]].op;
        const bool is_product =
            op.find("matmul") != op.npos || op.find("bmm") != op.npos || op.find("einsum") != op.npos;
        if (is_product || is_softmax(op)) {
            (is_product ? products : softmax).insert(function_of(oom, oom.allocations().stack[a]));
        }
    }
    std::set<Function> both;
    std::set_intersection(softmax.begin(), softmax.end(), products.begin(), products.end(),
                          std::inserter(both, both.end()));
    return both;
}

/// Returns whether a site stores scores: it grows with the square of the input; if that is unknown, it is as large as
/// the request.
bool is_score(const OomCase& oom, const SiteKey& key, uint64_t requested) {
    const std::optional<int> power = oom.growth_power_of(key);
    return power ? *power == 2 : requested == oom.oom().size;
}

std::vector<AllocationIndex> find_scores(const OomCase& oom) {
    const std::set<Function> attention = functions_of_attention(oom);
    const auto is_of_attention = [&](StackId stack) { return attention.contains(function_of(oom, stack)); };
    if (!is_of_attention(oom.oom().stack) || !is_score(oom, oom.sizes().key_of_request(), oom.oom().size)) {
        return {};
    }
    std::vector<AllocationIndex> scores;
    for (const AllocationIndex a : oom.alive()) {
        if (oom.allocations().alloc_event[a] >= oom.began() && is_of_attention(oom.allocations().stack[a]) &&
            is_score(oom, oom.sizes().key_of(a), oom.allocations().requested[a])) {
            scores.push_back(a);
        }
    }
    return scores;
}

/// Returns the line that selects an attention without scores.
std::string code_of(const OomCase& oom) {
    const Frame& frame = oom.stacks().frame(calling_frame(oom.stacks(), oom.oom().stack));
    const bool is_transformers = oom.stacks().string(frame.file).find("/transformers/") != std::string::npos;
    return is_transformers ? "model = AutoModel.from_pretrained(..., attn_implementation=\"sdpa\")"
                           : "output = F.scaled_dot_product_attention(q, k, v)";
}

}  // namespace

void oom_advice::attention_scores(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    const std::vector<AllocationIndex> scores = find_scores(oom);
    const int64_t bytes = oom.bytes(scores);
    if (scores.empty() ||
        (bytes + oom.analysis().requested()) * least_part < oom.in_use() + oom.analysis().requested()) {
        return;
    }
    const auto count = static_cast<int64_t>(scores.size());
    answer.text.push_back(words.plural(
        count, "The request is for attention scores, beside {n} tensor of scores with {bytes} from {line}.",
        "The request is for attention scores, beside {n} tensors of scores with {bytes} from {line}.",
        with("bytes", format_bytes(bytes)),
        with("line", line_of(oom.context().trace(), oom.allocations().stack[scores.back()]))));
    answer.evidence.push_back(at_allocation(oom.context(), words("A tensor of attention scores"), scores.back()));
    add_fix(
        answer, oom, words,
        words(
            "Use attention that does not store its scores: neither {bytes} of scores nor the request of {asked} would "
            "exist.",
            with("bytes", format_bytes(bytes)), with("asked", format_bytes(oom.analysis().requested()))),
        code_of(oom), bytes);
}

}  // namespace tidemark
