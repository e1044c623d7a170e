// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/growth/model_referrer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// A variable that refers to one model is no cause of many.
constexpr int64_t fewest_models = 2;

/// Returns whether the path leads over a member of a set, or a key of a dict.
bool has_unnamed_element(const Referrer& referrer) {
    return std::any_of(referrer.links.begin(), referrer.links.end(),
                       [](const PathLink& link) { return link.kind == PathLinkKind::element; });
}

/// Paths that start alike.
struct Candidate {
    std::map<std::string, int64_t> models;  ///< by name of a parameter: how many tensors of this name
    const Referrer* best = nullptr;         ///< the shortest path
    std::tuple<bool, bool, size_t> rank;    ///< of that path
    size_t length = 0;                      ///< its links up to the model
    bool leads_through_model = false;

    int64_t most() const {
        int64_t most = 0;
        for (const auto& [name, count] : models) {
            most = std::max(most, count);
        }
        return most;
    }
};

/// Returns the same text for paths to all models that one variable or container retains.
std::string start_of(const Referrer& referrer, size_t links_to_model) {
    if (is_cycle(referrer)) {
        return "cycle";
    }
    std::string text;
    for (size_t i = 0; i < std::min(links_to_model, container_end(referrer.links)); ++i) {
        const PathLink& link = referrer.links[i];
        text += fmt::format("{} {} {} {}\n", word_of(link.kind), link.name, link.function, link.file);
    }
    return text;
}

class Candidates {
public:
    Candidates(const AnalysisContext& context, const std::string& model) : context_(context), model_(model) {}

    void add(AllocationRef allocation) {
        const Referrer* referrer = context_.graph()->referrers.in_python(allocation);
        const std::string& name = context_.graph()->categories.name(allocation);
        if (!referrer || name.empty()) {
            return;
        }
        const size_t length = links_to_model(context_.graph()->tables(), referrer->links, model_);
        const bool leads_through_model = length < referrer->links.size();
        Candidate& candidate = by_start_[start_of(*referrer, length)];
        ++candidate.models[name];
        ++found_[name];
        const auto rank = std::tuple(!leads_through_model, has_unnamed_element(*referrer), length);
        if (!candidate.best || rank < candidate.rank) {
            candidate.best = referrer;
            candidate.rank = rank;
            candidate.length = length;
            candidate.leads_through_model = leads_through_model;
        }
    }

    const Referrer* best() const {
        const Candidate* best = nullptr;
        const auto rank = [](const Candidate& one) {
            return std::tuple(one.leads_through_model, has_name(*one.best), one.most());
        };
        for (const auto& [start, candidate] : by_start_) {
            if (retains_most(candidate) && (!best || rank(*best) < rank(candidate))) {
                best = &candidate;
            }
        }
        return best ? best->best : nullptr;
    }

private:
    /// Returns whether it retains at least half of the models in which a referrer of the same parameter was found.
    bool retains_most(const Candidate& candidate) const {
        const bool is_container = container_end(candidate.best->links) < candidate.length;
        return std::any_of(candidate.models.begin(), candidate.models.end(), [&](const auto& of_name) {
            return (is_container || of_name.second >= fewest_models) && 2 * of_name.second >= found_.at(of_name.first);
        });
    }

    const AnalysisContext& context_;
    const std::string& model_;
    std::map<std::string, Candidate> by_start_;
    std::map<std::string, int64_t> found_;  ///< tensors with a referrer, by name
};

}  // namespace

size_t links_to_model(const GraphTables& tables, const std::vector<PathLink>& links, const std::string& model) {
    for (size_t i = links.size(); i-- > 1;) {
        if (tables.texts[links[i].name].ends_with(" of " + model)) {
            return i;
        }
    }
    return links.size();
}

std::optional<size_t> links_to_optimizer(const GraphTables& tables, const std::vector<PathLink>& links,
                                         const std::string& name) {
    const auto is_of_optimizer = [&](const PathLink& link) {
        const std::string& text = tables.texts[link.name];
        const size_t of = link.kind == PathLinkKind::attribute ? text.find(" of ") : text.npos;
        const std::string_view attribute = std::string_view(text).substr(0, of);
        return of != text.npos && (attribute == "state" || attribute == "param_groups") &&
               (name.empty() || text.compare(of + 4, text.npos, name) == 0);
    };
    const auto link = std::find_if(links.begin(), links.end(), is_of_optimizer);
    const bool has_link = link != links.begin() && link != links.end();
    return has_link ? std::optional(static_cast<size_t>(link - links.begin())) : std::nullopt;
}

std::optional<Referrer> path_to_model(const AnalysisContext& context, std::span<const AllocationIndex> tensors,
                                      const std::string& model) {
    std::optional<Referrer> path;
    for (const AllocationIndex a : tensors) {
        const AllocationRef allocation{context.device_position(), a};
        const bool is_of_model = context.graph()->categories.name(allocation).starts_with(model + ".");
        const Referrer* referrer = is_of_model ? context.graph()->referrers.in_python(allocation) : nullptr;
        if (!referrer || !has_name(*referrer)) {
            continue;
        }
        const size_t links = links_to_model(context.graph()->tables(), referrer->links, model);
        if (links < (path ? path->links.size() : referrer->links.size())) {
            path = *referrer;
            path->links.resize(links);
        }
    }
    return path;
}

const Referrer* referrer_of_models(const AnalysisContext& context, const LeakSuspect& suspect,
                                   const std::string& model) {
    Candidates candidates(context, model);
    for (const Site* site : suspect.sites) {
        for (const AllocationIndex a : site->now) {
            candidates.add({context.device_position(), a});
        }
    }
    return candidates.best();
}

}  // namespace tidemark
