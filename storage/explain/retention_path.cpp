// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/retention_path.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// Steps of one kind that a path shows at each of its ends.
constexpr size_t most_at_ends = 4;

class PathBuilder {
public:
    PathBuilder(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words)
        : context_(context), graph_(*context.graph()), suspect_(suspect), words_(words) {}

    std::vector<RetentionStep> build() {
        const Retention& retention = suspect_.retention;
        const Referrer* referrer = retention.referrer ? retention.referrer : suspect_.referrer;
        referrer = referrer ? referrer : retention.hook ? retention.hook : retention.native;
        if (referrer) {
            add_links(*referrer);
        }
        if (retention.through_graph) {
            add_nodes(retention.retainer);
            add_saved(retention.retainer);
        }
        forget_shared();
        if (!steps_.empty()) {
            add_allocation();
        }
        return std::move(steps_);
    }

private:
    /// Calls add(position) for all positions, or for those at both ends and skip(count) for the rest.
    template <class Add>
    void for_each_shown(size_t count, Add&& add) {
        for (size_t i = 0; i < count; ++i) {
            if (i == most_at_ends && count > 2 * most_at_ends + 1) {
                const size_t skipped = count - 2 * most_at_ends;
                steps_.push_back({RetentionStep::Kind::skipped,
                                  words_.plural(static_cast<int64_t>(skipped), "{n} more step", "{n} more steps")});
                i += skipped;
            }
            add(i);
        }
    }

    void add_links(const Referrer& referrer) {
        const std::vector<PathLink>& links = referrer.links;
        const size_t fills = suspect_.paths.varying.value_or(container_end(links));
        const int64_t element = element_bytes(referrer);
        for_each_shown(links.size(), [&](size_t i) {
            RetentionStep step{RetentionStep::Kind::reference, link_words(graph_.tables(), words_, links[i])};
            if (i + 1 == fills) {
                step.bytes = std::max(suspect_.bytes, element);
            } else if (i == fills) {
                step.bytes = element;
            }
            if (const int64_t own = element - graph_bytes(); i + 1 == links.size() && own > 0) {
                step.text = words_("{step}: a tensor of {bytes}, and its graph", with("step", step.text),
                                   with("bytes", format_bytes(own)));
            }
            steps_.push_back(std::move(step));
        });
    }

    /// Forgets the bytes of steps below which other paths join: dropping such a step alone frees less than is below it.
    void forget_shared() {
        int64_t below = 0;
        for (RetentionStep& step : std::views::reverse(steps_)) {
            if (step.bytes && *step.bytes < below) {
                step.bytes.reset();
            }
            below = std::max(below, step.bytes.value_or(0));
        }
    }

    /// Returns the bytes that become free with one element of the container: those of its graph, and the tensor itself.
    int64_t element_bytes(const Referrer& referrer) const {
        if (!suspect_.through_graph() || !referrer.allocation) {
            return graph_bytes();
        }
        const ReferrerTargets element{{suspect_.retention.root}, {referrer.allocation}};
        return std::max(graph_bytes(), graph_.state.reachable_from({&element, 1}).front().freed_bytes);
    }

    /// Returns what the graph retains of one element; of memory without a graph, its block.
    int64_t graph_bytes() const {
        return suspect_.through_graph() ? graph_.state.retained_bytes(suspect_.retention.root) : block_bytes();
    }

    int64_t block_bytes() const {
        return static_cast<int64_t>(
            context_.trace().devices[suspect_.example.device].allocations.block_size[suspect_.example.index]);
    }

    void add_nodes(NodeIndex retainer) {
        const std::vector<NodeIndex> path = graph_.state.path_to(retainer);
        for_each_shown(path.size(), [&](size_t i) {
            RetentionStep step{RetentionStep::Kind::node, node_words(path[i])};
            step.bytes = graph_.state.retained_bytes(path[i]);
            step.node = path[i];
            step.line = line_of(context_.trace(), graph_.tables().nodes.stack[path[i]]);
            steps_.push_back(std::move(step));
        });
    }

    /// Returns "AddmmBackward0 of net.0".
    std::string node_words(NodeIndex node) const {
        const uint32_t origin = graph_.tables().nodes.origin[node];
        const auto& origins = context_.trace().origins;
        const auto type = with("type", graph_.index.type(node));
        return origin < origins.size() && !origins[origin].module.empty()
                   ? words_("autograd node {type} of {module}", type, with("module", origins[origin].module))
                   : words_("autograd node {type}", type);
    }

    void add_saved(NodeIndex node) {
        const SavedTensors& saved = graph_.tables().saved;
        for (uint32_t s = saved.first[node]; s < saved.first[node + 1]; ++s) {
            if (saved.allocation[s] == suspect_.example) {
                RetentionStep step{RetentionStep::Kind::saved_tensor,
                                   words_("saved tensor {name}", with("name", graph_.text(saved.name[s])))};
                // If other nodes saved it, too, dropping it here frees nothing.
                if (const auto bytes = static_cast<int64_t>(saved.bytes[s]);
                    bytes <= graph_.state.retained_bytes(node)) {
                    step.bytes = bytes;
                }
                step.node = node;
                steps_.push_back(std::move(step));
                return;
            }
        }
    }

    void add_allocation() {
        const Allocations& all = context_.trace().devices[suspect_.example.device].allocations;
        RetentionStep step{RetentionStep::Kind::allocation, words_("GPU memory")};
        step.bytes = block_bytes();
        step.allocation = suspect_.example;
        step.line = line_of(context_.trace(), all.stack[suspect_.example.index]);
        steps_.push_back(std::move(step));
    }

    const AnalysisContext& context_;
    const GraphContext& graph_;
    const LeakSuspect& suspect_;
    const Words& words_;
    std::vector<RetentionStep> steps_;
};

}  // namespace

std::vector<RetentionStep> retention_path(const AnalysisContext& context, const LeakSuspect& suspect,
                                          const Words& words) {
    if (!context.graph() || !suspect.example) {
        return {};
    }
    return PathBuilder(context, suspect, words).build();
}

}  // namespace tidemark
