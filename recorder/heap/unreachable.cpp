// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/heap/unreachable.h"

#include <algorithm>
#include <unordered_set>

namespace tidemark::heap {

namespace {

constexpr size_t longest_path_up = 2 * TIDEMARK_HEAP_NEAR_ROOT;

}  // namespace

UnreachableObjects::UnreachableObjects(std::span<const Address> objects, const AddressSet& seen,
                                       const AddressSet& targets)
    : targets_(targets) {
    for (const Address object : objects) {
        if (!seen.contains(object)) {
            numbers_.emplace(object, static_cast<uint32_t>(objects_.size()));
            objects_.push_back({object});
        }
    }
    for (; visiting_ < objects_.size(); ++visiting_) {
        for_each_child(objects_[visiting_].address, visit, this);
    }
}

int UnreachableObjects::visit(void* object, void* context) noexcept {
    auto& unreachable = *static_cast<UnreachableObjects*>(context);
    const auto known = unreachable.numbers_.find(reinterpret_cast<Address>(object));
    if (known != unreachable.numbers_.end()) {
        Object& child = unreachable.objects_[known->second];
        ++child.referrers;
        if (child.referrer == none) {
            child.referrer = unreachable.visiting_;
        }
    }
    return 0;
}

std::optional<UnreachableObjects::Path> UnreachableObjects::path_to(Address target) const {
    const auto known = numbers_.find(target);
    if (known == numbers_.end() || objects_[known->second].referrer == none) {
        return std::nullopt;
    }
    // Follows referrers until there is none, or until one repeats: that one is on a cycle.
    std::vector<Address> up;
    std::unordered_set<uint32_t> passed;
    uint32_t number = known->second;
    for (; number != none && passed.insert(number).second && up.size() < longest_path_up;
         number = objects_[number].referrer) {
        up.push_back(objects_[number].address);
    }
    Path path{TIDEMARK_HEAP_NATIVE, 0, 0, {}};
    if (number != none && up.size() < longest_path_up) {
        path.objects = cycle_through(number);
        if (!is_retained_by_others(path.objects)) {
            path.start = TIDEMARK_HEAP_CYCLE;
        }
        path.cycle_length = static_cast<int32_t>(path.objects.size());
        up.erase(std::find(up.begin(), up.end(), objects_[number].address) + 1, up.end());
    }
    if (path.cycle_length == 0 && up.size() > 1 && is_tuple(up.back())) {
        up.pop_back();  // Python may be resizing it, which needs that it has one owner: the path is another one
    }
    path.objects.insert(path.objects.end(), up.rbegin(), up.rend());
    return path;
}

/// Returns a cycle: each object refers to the next, the last one to the first, which is object `number`.
std::vector<Address> UnreachableObjects::cycle_through(uint32_t number) const {
    std::vector<Address> cycle;
    for (uint32_t member = objects_[number].referrer; member != number; member = objects_[member].referrer) {
        cycle.push_back(objects_[member].address);
    }
    cycle.push_back(objects_[number].address);
    std::reverse(cycle.begin(), cycle.end());
    return cycle;
}

bool UnreachableObjects::is_retained_by_others(std::span<const Address> cycle) const {
    return std::any_of(cycle.begin(), cycle.end(), [&](Address member) {
        return !targets_.contains(member) && references_to(member) > objects_[numbers_.at(member)].referrers;
    });
}

}  // namespace tidemark::heap
