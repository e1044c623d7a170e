// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/breakdown/driver_components.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

namespace tidemark {

namespace {

using namespace std::string_view_literals;

/// Returns whether memory of this kind takes device memory when a program allocates it.
bool takes_device_memory(DriverMemoryKind kind) {
    switch (kind) {
        case DriverMemoryKind::device:
        case DriverMemoryKind::async:
        case DriverMemoryKind::pool:
        case DriverMemoryKind::physical:
        case DriverMemoryKind::managed:
        case DriverMemoryKind::array: return true;
        case DriverMemoryKind::mapped:
        case DriverMemoryKind::pinned:
        case DriverMemoryKind::context:
        case DriverMemoryKind::kernels:
        case DriverMemoryKind::unknown: return false;
    }
    return false;
}

/// Returns the file name of a library, "PyTorch" for each of PyTorch's own; "" if no library was recorded.
std::string library_name(std::string_view source) {
    const std::string_view file = source.substr(source.find_last_of('/') + 1);
    if (file.starts_with("libtorch") || file.starts_with("libc10")) {
        return "PyTorch";
    }
    return std::string(file);
}

using ComponentKey = std::tuple<ComponentKind, std::string, bool>;  ///< kind, name, is_certain

/// Returns the memory in pools that no allocation from them uses.
Amount unused_in_pools(const Trace& trace, int device) {
    struct Change {
        int64_t time, pool, used;
    };
    std::vector<Change> changes;
    for (const DriverAllocation& a : trace.driver_allocations) {
        const bool is_pool = a.kind == DriverMemoryKind::pool;
        if (a.device == device && (is_pool || a.kind == DriverMemoryKind::async)) {
            const auto bytes = static_cast<int64_t>(a.bytes);
            changes.push_back({a.time, is_pool ? bytes : 0, is_pool ? 0 : bytes});
            if (a.free_time) {
                changes.push_back({*a.free_time, is_pool ? -bytes : 0, is_pool ? 0 : -bytes});
            }
        }
    }
    std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.time < b.time; });
    Amount unused;
    int64_t pool = 0, used = 0, last = 0;
    for (const Change& change : changes) {
        pool += change.pool;
        used += change.used;
        const int64_t now = std::max<int64_t>(pool - used, 0);  // the pool's size is read after the allocation
        unused.change(change.time, now - last, 0);
        last = now;
    }
    unused.settle();
    return unused;
}

/// Returns the component of a driver allocation; nothing if it is counted elsewhere.
std::optional<ComponentKey> component_of(const DriverAllocation& a, bool has_pools) {
    if (a.kind == DriverMemoryKind::context) {
        return ComponentKey(ComponentKind::context, "", false);
    }
    if (a.kind == DriverMemoryKind::kernels) {
        return ComponentKey(ComponentKind::kernels, "", false);
    }
    // The size of a driver pool includes the allocations from it.
    const bool counted_with_pool = a.kind == DriverMemoryKind::async && has_pools;
    if (a.in_allocator || !takes_device_memory(a.kind) || counted_with_pool) {
        return std::nullopt;
    }
    return ComponentKey(ComponentKind::library, library_name(a.source), a.kind != DriverMemoryKind::managed);
}

}  // namespace

bool has_driver_calls(const Trace& trace, int device) {
    return std::any_of(trace.driver_allocations.begin(), trace.driver_allocations.end(), [&](const auto& a) {
        return a.device == device && (a.in_allocator || takes_device_memory(a.kind));
    });
}

std::vector<DriverComponent> driver_components(const Trace& trace, int device) {
    const bool has_pools =
        std::any_of(trace.driver_allocations.begin(), trace.driver_allocations.end(),
                    [&](const DriverAllocation& a) { return a.device == device && a.kind == DriverMemoryKind::pool; });
    const bool are_events = trace.event_source == EventSource::driver;  // then the blocks count them
    std::map<ComponentKey, Amount> amounts;
    for (const DriverAllocation& a : trace.driver_allocations) {
        const auto component = a.device == device ? component_of(a, has_pools) : std::nullopt;
        if (!component || (are_events && takes_device_memory(a.kind))) {
            continue;
        }
        const auto bytes = static_cast<int64_t>(a.bytes);
        amounts[*component].change(a.time, bytes, 1);
        if (a.free_time) {
            amounts[*component].change(*a.free_time, -bytes, -1);
        }
    }
    std::vector<DriverComponent> components;
    if (are_events && has_pools) {
        components.push_back({ComponentKind::driver_pools, "", true, unused_in_pools(trace, device)});
    }
    for (auto& [key, amount] : amounts) {
        amount.settle();
        const auto& [kind, name, is_certain] = key;
        components.push_back({kind, name, is_certain, std::move(amount)});
    }
    return components;
}

}  // namespace tidemark
