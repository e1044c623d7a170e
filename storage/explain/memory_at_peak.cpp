// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/memory_at_peak.h"

#include <algorithm>
#include <map>
#include <vector>

#include "storage/base/units.h"
#include "storage/explain/composition.h"
#include "storage/explain/referrer_at_peak.h"
#include "storage/explain/reserved_growth.h"
#include "storage/explain/stack_categories.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// Less memory is not worth a sentence: 1 / 1000 of the peak.
constexpr int64_t least_fraction = 1000;

/// Nearly all of the memory: 19 / 20.
constexpr int64_t nearly_all = 20;

using Lines = std::map<FrameId, int64_t>;

const Lines::value_type* largest(const Lines& lines) {
    const auto most =
        std::max_element(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == lines.end() ? nullptr : &*most;
}

/// The memory that is allocated at the peak, in bytes of blocks.
struct Origins {
    Lines lines;            ///< Python lines and native functions
    int64_t earlier = 0;    ///< without a stack, from before the history
    int64_t gradients = 0;  ///< that stay
    int64_t backward = 0;   ///< by nodes of the autograd graph, which run without Python
    int64_t unknown = 0;    ///< without a stack, in the history
    int64_t state = 0;      ///< of optimizers
    int64_t casts = 0;      ///< copies of weights and inputs in another dtype, by autocast

    /// Counts what lines made for one purpose as a part of its own, if that is more than any other line made.
    void separate(const Lines& part, int64_t& bytes) {
        for (const auto& [line, of_line] : part) {
            bytes += of_line;
        }
        const auto* most = largest(lines);
        if (most == nullptr || bytes > most->second) {
            return;
        }
        bytes = 0;
        for (const auto& [line, of_line] : part) {
            lines[line] += of_line;
        }
    }
};

Origins origins_at(const AnalysisContext& context, EventNumber state) {
    const Allocations& allocations = context.device().allocations;
    const StackTable& stacks = context.trace().stacks;
    const auto categories = categories_by_stack(context);
    const std::vector<bool> is_cast = stacks_with_frame(stacks, [&](const Frame& frame) {
        return stacks.string(frame.function).starts_with("at::autocast::cached_cast(");
    });
    Origins origins;
    Lines state_lines, cast_lines;
    for (const AllocationIndex a : allocated_at(context, state)) {
        const StackId stack = allocations.stack[a];
        const FrameId site = stacks.site(stack);
        const auto category = categories.find(a);
        const auto is = [&](Category wanted) { return category != categories.end() && category->second == wanted; };
        int64_t& bytes = site == 0 && allocations.alloc_event[a] == before_history ? origins.earlier
                         : site == 0                                               ? origins.unknown
                         : is(Category::gradient)                                  ? origins.gradients
                         : stacks.role(site) == FrameRole::node                    ? origins.backward
                         : is(Category::optimizer_state)                           ? state_lines[site]
                         : is_cast[stack]                                          ? cast_lines[site]
                                                                                   : origins.lines[site];
        bytes += static_cast<int64_t>(allocations.block_size[a]);
    }
    origins.separate(state_lines, origins.state);
    origins.separate(cast_lines, origins.casts);
    return origins;
}

std::string_view folder_of(const StackTable& stacks, FrameId id) {
    const std::string_view path = stacks.string(stacks.frame(id).file);
    const size_t slash = path.find_last_of("/\\");
    return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

/// Returns the function that called a frame of the stack, if it lies in the same folder: others may be a debugger.
/// Returns 0 if there is none.
FrameId own_caller(const StackTable& stacks, StackId stack, FrameId called) {
    bool is_caller = false;
    for (; stack != 0; stack = stacks.stack(stack).caller) {
        const FrameId id = stacks.stack(stack).frame;
        if (is_caller && is_python(stacks.role(id))) {
            return folder_of(stacks, id) == folder_of(stacks, called) ? id : 0;
        }
        is_caller = is_caller || id == called;
    }
    return 0;
}

/// Returns " (called by model.py:12 load)" if one line of the folder made nearly all calls that allocated at a line.
std::string caller_words(const AnalysisContext& context, EventNumber state, FrameId line, const Words& words) {
    const Allocations& allocations = context.device().allocations;
    const StackTable& stacks = context.trace().stacks;
    Lines callers;
    int64_t all = 0;
    for (const AllocationIndex a : allocated_at(context, state)) {
        if (stacks.site(allocations.stack[a]) == line) {
            const auto bytes = static_cast<int64_t>(allocations.block_size[a]);
            all += bytes;
            callers[own_caller(stacks, allocations.stack[a], line)] += bytes;
        }
    }
    const auto* most = largest(callers);
    return most != nullptr && most->first != 0 && (all - most->second) * nearly_all <= all
               ? words(" (called by {line})", with("line", describe_frame(stacks, most->first)))
               : std::string();
}

/// Says what retained the memory of a line, if a heap scan found it.
std::string referrer_sentence(const AnalysisContext& context, EventNumber state, FrameId line, const Words& words) {
    const Allocations& allocations = context.device().allocations;
    std::vector<AllocationIndex> of_line = allocated_at(context, state);
    std::erase_if(of_line,
                  [&](AllocationIndex a) { return context.trace().stacks.site(allocations.stack[a]) != line; });
    std::sort(of_line.begin(), of_line.end());
    const std::string referrer = referrer_at_peak(context, of_line, words);
    return referrer.empty() ? std::string()
                            : words("Memory of this line was retained by {referrer}.", with("referrer", referrer));
}

/// Returns what no line allocated, if it is more than `least`, most bytes first.
std::vector<std::string> without_line(const Origins& origins, int64_t least, const AnalysisContext& context,
                                      const Words& words) {
    std::vector<std::pair<int64_t, std::string>> parts;
    const auto add = [&](int64_t bytes, auto&& in_words) {
        if (bytes > least) {
            parts.emplace_back(bytes, in_words(with("bytes", format_bytes(bytes))));
        }
    };
    add(origins.earlier, [&](const auto& bytes) {
        return context.lacks_history() ? words("{bytes} have no stack", bytes)
                                       : words("{bytes} existed before the history began", bytes);
    });
    add(origins.gradients, [&](const auto& bytes) { return words("{bytes} are gradients", bytes); });
    add(origins.state, [&](const auto& bytes) { return words("{bytes} are optimizer state", bytes); });
    add(origins.casts, [&](const auto& bytes) {
        return words("{bytes} are copies of weights and inputs in another dtype, made by autocast", bytes);
    });
    add(origins.backward, [&](const auto& bytes) {
        return origins.gradients > least
                   ? words("{bytes} of other memory were allocated by backward passes", bytes)
                   : words("{bytes} were allocated by backward passes (gradients, for example)", bytes);
    });
    add(origins.unknown, [&](const auto& bytes) { return words("{bytes} have no stack", bytes); });
    std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> texts;
    texts.reserve(parts.size());
    for (auto& [bytes, text] : parts) {
        texts.push_back(std::move(text));
    }
    return texts;
}

/// Says where the memory at the peak comes from. `most`: the line with most bytes; nullptr: none has many.
std::string origins_sentence(const AnalysisContext& context, const Origins& origins, const Lines::value_type* most,
                             const Words& words) {
    const auto peak = context.peak();
    const std::string size = format_bytes(peak.max);
    const auto whole = with("whole", context.lacks_history() ? words("the {bytes} allocated", with("bytes", size))
                                                             : words("the peak of {bytes}", with("bytes", size)));
    const auto line =
        with("line", most != nullptr ? describe_frame(context.trace().stacks, most->first) : std::string());
    const auto bytes = with("bytes", format_bytes(most != nullptr ? most->second : 0));
    const std::vector<std::string> others =
        without_line(origins, most != nullptr ? most->second : peak.max / least_fraction, context, words);
    const auto parts = with("parts", words.list(others));
    if (most != nullptr && (peak.max - most->second) * nearly_all <= peak.max) {
        return words("Nearly all of {whole} comes from {line}{caller}: {bytes}.", whole, line,
                     with("caller", caller_words(context, peak.max_event, most->first, words)), bytes);
    }
    if (others.empty()) {
        return most != nullptr
                   ? words("Of {whole}, {bytes} come from {line}, more than from any other line.", whole, bytes, line)
                   : std::string();
    }
    return most != nullptr
               ? words("Of {whole}, {parts}; of the rest, most comes from {line}: {bytes}.", whole, parts, line, bytes)
               : words("Of {whole}, {parts}.", whole, parts);
}

}  // namespace

std::string memory_at_peak(const AnalysisContext& context, const Words& words) {
    const auto peak = context.peak();
    const Origins origins = origins_at(context, peak.max_event);
    const auto* most = largest(origins.lines);
    const bool has_line = most != nullptr && most->second * least_fraction >= peak.max;
    if (!has_line && context.lacks_history()) {
        return {};
    }
    const std::string largest_line = origins_sentence(context, origins, has_line ? most : nullptr, words);
    return has_line ? words.sentences({largest_line, referrer_sentence(context, peak.max_event, most->first, words)})
                    : largest_line;
}

std::string reserved_beyond_peak(const AnalysisContext& context, const Words& words) {
    const int64_t allocated = context.peak().max, reserved = context.curves().value(Series::reserved, context.now());
    return context.is_snapshot() && !context.lacks_history() && reserved - allocated >= least_unusable_bytes(allocated)
               ? words("PyTorch has reserved {reserved}, {more} more than were allocated at the peak.",
                       with("reserved", format_bytes(reserved)), with("more", format_bytes(reserved - allocated)))
               : std::string();
}

}  // namespace tidemark
