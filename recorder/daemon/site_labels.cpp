// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/site_labels.h"

namespace tidemark::recorder {

namespace {

/// Labels and nodes are complete some commits after they arrive (NodeLog, LabelLog).
constexpr uint32_t commits_for_labels = 4;

}  // namespace

size_t SiteLabels::Hash::operator()(const Site& site) const {
    uint64_t hash = uint64_t{site.stack} << 32 | site.origin;
    hash = (hash ^ site.bytes * 0x9fb21c651e98df25u) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

void SiteLabels::allocated(int64_t id, const AllocationRow& row, bool is_light) {
    const Site site{row.lifetime.stack, row.lifetime.origin, row.lifetime.requested};
    if (is_light) {
        light_.push_back({id, row.time, site, commit_});
        return;
    }
    recent(id) = {id, site};
    if (sites_.size() >= most_sites) {
        sites_.clear();
    }
    ++sites_[site].allocated;
}

void SiteLabels::labeled(int64_t id, Category category, StringId name) {
    if (recent(id).id != id || id == no_allocation_row) {
        return;
    }
    Labels& labels = sites_[recent(id).site];
    if (category == Category::saved) {
        ++labels.saved;
    } else if (category == Category::output && name == 0) {
        ++labels.made;
    } else {
        labels.category = category;
        labels.name = labels.labeled == 0 || labels.name == name ? name : 0;
        ++labels.labeled;
    }
}

void SiteLabels::report(bool all) {
    ++commit_;
    for (; !light_.empty() && (all || commit_ - light_.front().commit > commits_for_labels); light_.pop_front()) {
        write(light_.front());
    }
}

void SiteLabels::write(const Light& allocation) {
    const auto known = sites_.find(allocation.site);
    if (known == sites_.end()) {
        return;
    }
    const Labels& labels = known->second;
    const auto had_most = [&](uint32_t count) { return count > 0 && 2 * count >= labels.allocated; };
    if (had_most(labels.labeled)) {
        writer_.category({allocation.id, allocation.time, labels.category, labels.name});
    }
    if (had_most(labels.saved)) {
        writer_.category({allocation.id, allocation.time, Category::saved, 0});
    }
    if (had_most(labels.made)) {
        writer_.category({allocation.id, allocation.time, Category::output, 0});
    }
}

}  // namespace tidemark::recorder
