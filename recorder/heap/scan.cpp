#include "recorder/heap/scan.h"

#include <algorithm>
#include <new>

#include "recorder/heap/leftovers.h"

namespace tidemark::heap {

namespace {

constexpr size_t looked_ahead = 6;
constexpr uint32_t longest_chain = 2 * TIDEMARK_HEAP_NEAR_ROOT;

struct Referred {
    const AddressSet& targets;
    AddressSet& referred;
    bool out_of_memory = false;
};

int note_target(void* object, void* context) noexcept {
    auto& noted = *static_cast<Referred*>(context);
    const auto address = reinterpret_cast<Address>(object);
    try {
        if (noted.targets.contains(address)) {
            noted.referred.insert(address);
        }
    } catch (const std::bad_alloc&) {  // must not pass through Python's code
        noted.out_of_memory = true;
    }
    return noted.out_of_memory;
}

}  // namespace

Search::Search(const FrameLayout& layout, std::span<const Address> targets, std::span<const Address> barriers)
    : layout_(layout), chains_(targets.size()), missing_(targets.size()) {
    for (size_t i = 0; i < targets.size(); ++i) {
        targets_.insert(targets[i]);
        target_numbers_.emplace(targets[i], i);
    }
    for (const Address barrier : barriers) {
        barriers_.insert(barrier);
        seen_.insert(barrier);
    }
}

void Search::from(std::span<const tidemark_heap_root> roots) {
    nodes_.clear();
    starts_.clear();
    reached_.clear();
    for (size_t i = 0; i < roots.size(); ++i) {
        enter(roots[i], roots_before_ + static_cast<int32_t>(i));
    }
    roots_before_ += static_cast<int32_t>(roots.size());
    expand();
    for (const auto& [target, node] : reached_) {
        found(target, node);
    }
}

void Search::enter(const tidemark_heap_root& root, int32_t number) {
    if (root.variables < 0) {
        if (barriers_.contains(root.object) || seen_.insert(root.object)) {
            start(root.object, number, -1);
        }
        return;
    }
    const Address variables = variables_of(layout_, root.object);
    for (int32_t i = 0; i < root.variables; ++i) {
        const Address object = value_at(layout_, variables, static_cast<size_t>(i));
        if (object != 0 && is_collected(object) && seen_.insert(object)) {
            start(object, number, i);
        }
    }
}

void Search::start(Address object, int32_t root, int32_t variable) {
    starts_.push_back({root, variable});
    add(object, root_flag | static_cast<uint32_t>(starts_.size() - 1));
}

void Search::add(Address object, uint32_t parent) {
    const auto number = static_cast<uint32_t>(nodes_.size());
    const bool is_start = (parent & root_flag) != 0;
    const uint32_t depth = is_start ? 0 : nodes_[parent].depth + 1;
    nodes_.push_back({object, parent, depth, depth < TIDEMARK_HEAP_NEAR_ROOT ? number : nodes_[parent].anchor});
    if (wants(object)) {
        const size_t target = target_numbers_.at(object);
        if (chains_[target].wanted) {
            chains_[target].wanted = false;
            --missing_;
            reached_.emplace_back(target, number);
        }
    }
}

void Search::expand() {
    for (expanding_ = 0; expanding_ < nodes_.size() && missing_ > 0; ++expanding_) {
        if (expanding_ + looked_ahead < nodes_.size()) {
            __builtin_prefetch(reinterpret_cast<const void*>(nodes_[expanding_ + looked_ahead].object));
        }
        for_each_child(nodes_[expanding_].object, meet, this);
        if (out_of_memory_) {
            throw std::bad_alloc();
        }
    }
    objects_ += expanding_;
}

int Search::meet(void* object, void* context) noexcept {
    auto& search = *static_cast<Search*>(context);
    const auto address = reinterpret_cast<Address>(object);
    try {
        if (is_collected(address) && search.seen_.insert(address)) {
            search.add(address, static_cast<uint32_t>(search.expanding_));
        }
    } catch (const std::bad_alloc&) {  // must not pass through Python's code
        search.out_of_memory_ = true;
    }
    return search.out_of_memory_;
}

void Search::found(size_t target, uint32_t node) {
    std::vector<Address> objects;
    const uint32_t depth = nodes_[node].depth;
    const uint32_t left_out = depth < longest_chain ? 0 : depth + 1 - longest_chain;
    const uint32_t below = left_out == 0 ? 0 : longest_chain - TIDEMARK_HEAP_NEAR_ROOT;
    for (uint32_t i = 0; i < below; ++i, node = nodes_[node].parent) {
        objects.push_back(nodes_[node].object);
    }
    if (left_out > 0) {
        node = nodes_[node].anchor;
    }
    for (; (nodes_[node].parent & root_flag) == 0; node = nodes_[node].parent) {
        objects.push_back(nodes_[node].object);
    }
    objects.push_back(nodes_[node].object);
    const Start& start = starts_[nodes_[node].parent & ~root_flag];
    std::reverse(objects.begin(), objects.end());
    keep(target, {TIDEMARK_HEAP_ROOT, start.root, start.variable, 0, static_cast<int32_t>(left_out), 0},
         std::move(objects));
}

void Search::keep(size_t target, tidemark_heap_chain about, std::vector<Address> objects) {
    about.objects = static_cast<int32_t>(objects.size());
    chains_[target].about = about;
    chains_[target].objects = std::move(objects);
    new_chains_.push_back(target);
}

void Search::give_up_unreferred(std::span<const Address> objects) {
    AddressSet referred;
    Referred noted{targets_, referred};
    for (const Address object : objects) {
        if (!seen_.contains(object)) {  // those seen have told what they refer to
            for_each_child(object, note_target, &noted);
            ++objects_;
        }
    }
    if (noted.out_of_memory) {
        throw std::bad_alloc();
    }
    for (const auto& [address, target] : target_numbers_) {
        if (chains_[target].wanted && !referred.contains(address)) {
            chains_[target].wanted = false;
            --missing_;
        }
    }
}

void Search::leftovers(std::span<const Address> objects) {
    const Leftovers left(objects, seen_, targets_);
    for (const auto& [address, target] : target_numbers_) {
        if (chains_[target].wanted) {
            if (auto chain = left.chain_to(address)) {
                chains_[target].wanted = false;
                --missing_;
                keep(target, {chain->origin, 0, -1, chain->cycle, chain->left_out, 0}, std::move(chain->objects));
            }
        }
    }
    objects_ += left.size();
}

void Search::for_new_chains(CountReference count) {
    for (const size_t target : new_chains_) {
        for (const Address object : chains_[target].objects) {
            count(reinterpret_cast<void*>(object));
        }
    }
    new_chains_.clear();
}

void Search::for_all_chains(CountReference count) {
    for (const Chain& chain : chains_) {
        for (const Address object : chain.objects) {
            count(reinterpret_cast<void*>(object));
        }
    }
}

}  // namespace tidemark::heap
