// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/named_before_end.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "storage/explain/alike_paths.h"
#include "storage/explain/analysis_context.h"
#include "storage/graph/referrer_groups.h"
#include "storage/text/referrer_words.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// Returns whether both paths go on alike after the reference cycle in which the second one starts.
bool ends_like(const Referrer& named, const Referrer& cycle) {
    const std::span<const PathLink> inside = links_to_tensor(cycle).subspan(1), links = links_to_tensor(named);
    const auto is_known_place = [](const PathLink& link) { return !is_element(link); };
    return inside.size() < links.size() && std::any_of(inside.begin(), inside.end(), is_known_place) &&
           std::equal(inside.begin(), inside.end(), links.end() - static_cast<std::ptrdiff_t>(inside.size()),
                      is_same_place);
}

/// Returns "AUROC" of "preds of AUROC"; "" of another name.
std::string_view class_of(std::string_view container) {
    constexpr std::string_view of = " of ";
    const size_t at = container.find(of);
    return at == container.npos ? std::string_view() : container.substr(at + of.size());
}

/// Returns whether two paths into attributes lead to them through the same object.
bool is_same_object(const Referrer& a, const Referrer& b) {
    const size_t end = container_end(a.links);
    return end > 1 && end == container_end(b.links) &&
           std::equal(a.links.begin(), a.links.begin() + static_cast<std::ptrdiff_t>(end) - 1, b.links.begin(),
                      is_same_place);
}

/// Finds paths from variables to what the scan at the end found in a reference cycle, because the functions with the
/// variables had returned then.
class NamedBeforeEnd {
public:
    NamedBeforeEnd(const GraphContext& graph, const Site& site, uint32_t device, const Referrer& cycle)
        : graph_(graph), site_(site), device_(device), cycle_(cycle), container_(container_name(graph, cycle)) {}

    /// See named_before_end().
    const Referrer* find() {
        if (!is_of_end(cycle_)) {
            return nullptr;
        }
        for (const Referrer& referrer : graph_.tables().referrers) {
            if (!is_of_end(referrer)) {
                consider(referrer);
            }
        }
        return was_in_cycle_ ? nullptr : of_site_ ? of_site_ : of_attribute();
    }

private:
    void consider(const Referrer& earlier) {
        const bool is_here = is_of_site(earlier);
        was_in_cycle_ |= is_here && is_cycle(earlier);
        if (!has_name(earlier)) {
            return;
        }
        const bool is_in_container = !container_.empty() && container_name(graph_, earlier) == container_;
        if (is_here && (is_in_container || ends_like(earlier, cycle_))) {
            of_site_ = &earlier;
        } else if (is_in_container && container_.find(" of ") != std::string::npos) {
            of_attribute_.push_back(&earlier);
        } else if (is_here && class_of(container_name(graph_, earlier)) == class_of(container_)) {
            beside_.push_back(&earlier);
        }
    }

    /// Returns the only path into such an attribute of such an object. Of several objects it is the only one into whose
    /// other attributes the line puts memory, as a metric of predictions and targets has it.
    const Referrer* of_attribute() const {
        const Referrer *any = nullptr, *with_others = nullptr;
        bool are_several = false, have_several_others = false;
        for (const Referrer* path : of_attribute_) {
            are_several |= any && !lead_alike(*any, *path);
            any = path;
            if (std::any_of(beside_.begin(), beside_.end(),
                            [&](const Referrer* o) { return is_same_object(*path, *o); })) {
                have_several_others |= with_others && !lead_alike(*with_others, *path);
                with_others = path;
            }
        }
        return !are_several ? any : have_several_others ? nullptr : with_others;
    }

    bool is_of_end(const Referrer& referrer) const {
        return graph_.tables().scans[referrer.scan].reason == ScanReason::end;
    }

    bool is_of_site(const Referrer& referrer) const {
        const Trace& trace = graph_.index.trace();
        return referrer.allocation && referrer.allocation.device == device_ &&
               trace.stacks.site(trace.devices[device_].allocations.stack[referrer.allocation.index]) ==
                   trace.stacks.site(site_.stack);
    }

    const GraphContext& graph_;
    const Site& site_;
    uint32_t device_;
    const Referrer& cycle_;
    std::string container_;  ///< into which the path from the cycle leads
    const Referrer* of_site_ = nullptr;
    std::vector<const Referrer*> of_attribute_;  ///< paths into such an attribute of any object of the class
    std::vector<const Referrer*> beside_;        ///< paths to memory of the site, into other attributes of the class
    bool was_in_cycle_ = false;
};

}  // namespace

const Referrer* named_before_end(const GraphContext& graph, const Site& site, uint32_t device, const Referrer& cycle) {
    return NamedBeforeEnd(graph, site, device, cycle).find();
}

}  // namespace tidemark
