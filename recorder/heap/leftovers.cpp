#include "recorder/heap/leftovers.h"

#include <algorithm>
#include <unordered_set>

namespace tidemark::heap {

namespace {

constexpr size_t longest_way_up = 2 * TIDEMARK_HEAP_NEAR_ROOT;

}  // namespace

Leftovers::Leftovers(std::span<const Address> objects, const AddressSet& seen, const AddressSet& targets)
    : targets_(targets) {
    for (const Address object : objects) {
        if (!seen.contains(object)) {
            numbers_.emplace(object, static_cast<uint32_t>(objects_.size()));
            objects_.push_back({object});
        }
    }
    for (; asked_ < objects_.size(); ++asked_) {
        for_each_child(objects_[asked_].address, meet, this);
    }
}

int Leftovers::meet(void* object, void* context) noexcept {
    auto& left = *static_cast<Leftovers*>(context);
    const auto known = left.numbers_.find(reinterpret_cast<Address>(object));
    if (known != left.numbers_.end()) {
        Object& child = left.objects_[known->second];
        ++child.referrers;
        if (child.referrer == nobody) {
            child.referrer = left.asked_;
        }
    }
    return 0;
}

std::optional<Leftovers::Chain> Leftovers::chain_to(Address target) const {
    const auto known = numbers_.find(target);
    if (known == numbers_.end() || objects_[known->second].referrer == nobody) {
        return std::nullopt;
    }
    // From referrer to referrer, until there is none or one comes again: then that is on a cycle.
    std::vector<Address> up;
    std::unordered_set<uint32_t> passed;
    uint32_t number = known->second;
    for (; number != nobody && passed.insert(number).second && up.size() < longest_way_up;
         number = objects_[number].referrer) {
        up.push_back(objects_[number].address);
    }
    Chain chain{TIDEMARK_HEAP_OUTSIDE, 0, 0, {}};
    if (number != nobody && up.size() < longest_way_up) {
        chain.objects = cycle_through(number);
        if (!is_retained_by_others(chain.objects)) {
            chain.origin = TIDEMARK_HEAP_CYCLE;
        }
        chain.cycle = static_cast<int32_t>(chain.objects.size());
        up.erase(std::find(up.begin(), up.end(), objects_[number].address) + 1, up.end());
    }
    if (chain.cycle == 0 && up.size() > 1 && is_tuple(up.back())) {
        up.pop_back();  // perhaps being filled: see collected.h
    }
    chain.objects.insert(chain.objects.end(), up.rbegin(), up.rend());
    return chain;
}

/// Each refers to the next, the last to the first, which is object `number`.
std::vector<Address> Leftovers::cycle_through(uint32_t number) const {
    std::vector<Address> cycle;
    for (uint32_t member = objects_[number].referrer; member != number; member = objects_[member].referrer) {
        cycle.push_back(objects_[member].address);
    }
    cycle.push_back(objects_[number].address);
    std::reverse(cycle.begin(), cycle.end());
    return cycle;
}

bool Leftovers::is_retained_by_others(std::span<const Address> cycle) const {
    constexpr uint32_t ours = 1;
    return std::any_of(cycle.begin(), cycle.end(), [&](Address member) {
        return !targets_.contains(member) && references_to(member) > objects_[numbers_.at(member)].referrers + ours;
    });
}

}  // namespace tidemark::heap
