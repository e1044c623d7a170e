// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/driver/driver_calls.h"

#include <algorithm>
#include <array>
#include <optional>

#include "recorder/core/ring.h"
#include "recorder/driver/cuda_driver.h"

namespace tidemark::recorder {
namespace {

using namespace cupti;

/// What a call does, which determines its parameters.
enum class Deed : uint8_t {
    allocate,
    allocate_pitch,
    allocate_from_stream,  ///< from the device's current pool
    allocate_from_pool,
    allocate_array,
    allocate_array_3d,
    allocate_mipmaps,
    register_host,
    open_shared,
    free,
    create_physical,
    retain_physical,
    release_physical,
    map,
    unmap,
    create_pool,
    trim_pool,
    destroy_pool,
};

struct Call {
    Domain domain;
    uint32_t id;
    Deed deed;
    tidemark_memory memory;
};

constexpr auto device = TIDEMARK_MEMORY_DEVICE;
constexpr auto async = TIDEMARK_MEMORY_ASYNC;
constexpr auto pinned = TIDEMARK_MEMORY_PINNED;
constexpr auto managed = TIDEMARK_MEMORY_MANAGED;
constexpr auto array = TIDEMARK_MEMORY_ARRAY;
constexpr auto physical = TIDEMARK_MEMORY_PHYSICAL;
constexpr auto imported = TIDEMARK_MEMORY_MAPPED;
constexpr auto pool = TIDEMARK_MEMORY_POOL;

constexpr std::array calls{
    Call{driver_api, cuMemAlloc_v2, Deed::allocate, device},
    Call{driver_api, cuMemAllocPitch_v2, Deed::allocate_pitch, device},
    Call{driver_api, cuMemFree_v2, Deed::free, device},
    Call{driver_api, cuMemAllocManaged, Deed::allocate, managed},
    Call{driver_api, cuMemHostAlloc, Deed::allocate, pinned},
    Call{driver_api, cuMemHostAlloc_v2, Deed::allocate, pinned},
    Call{driver_api, cuMemAllocHost_v2, Deed::allocate, pinned},
    Call{driver_api, cuMemFreeHost, Deed::free, pinned},
    Call{driver_api, cuMemHostRegister_v2, Deed::register_host, pinned},
    Call{driver_api, cuMemHostUnregister, Deed::free, pinned},
    Call{driver_api, cuArrayCreate_v2, Deed::allocate_array, array},
    Call{driver_api, cuArray3DCreate_v2, Deed::allocate_array_3d, array},
    Call{driver_api, cuArrayDestroy, Deed::free, array},
    Call{driver_api, cuMipmappedArrayCreate, Deed::allocate_mipmaps, array},
    Call{driver_api, cuMipmappedArrayDestroy, Deed::free, array},
    Call{driver_api, cuMemCreate, Deed::create_physical, physical},
    Call{driver_api, cuMemRetainAllocationHandle, Deed::retain_physical, physical},
    Call{driver_api, cuMemRelease, Deed::release_physical, physical},
    Call{driver_api, cuMemMap, Deed::map, imported},
    Call{driver_api, cuMemUnmap, Deed::unmap, imported},
    Call{driver_api, cuIpcOpenMemHandle_v2, Deed::open_shared, imported},
    Call{driver_api, cuIpcCloseMemHandle, Deed::free, imported},
    Call{driver_api, cuMemAllocAsync, Deed::allocate_from_stream, async},
    Call{driver_api, cuMemAllocAsync_ptsz, Deed::allocate_from_stream, async},
    Call{driver_api, cuMemAllocFromPoolAsync, Deed::allocate_from_pool, async},
    Call{driver_api, cuMemAllocFromPoolAsync_ptsz, Deed::allocate_from_pool, async},
    Call{driver_api, cuMemFreeAsync, Deed::free, async},
    Call{driver_api, cuMemFreeAsync_ptsz, Deed::free, async},
    Call{driver_api, cuMemPoolCreate, Deed::create_pool, pool},
    Call{driver_api, cuMemPoolTrimTo, Deed::trim_pool, pool},
    Call{driver_api, cuMemPoolDestroy, Deed::destroy_pool, pool},
    // Whether CUPTI reports the runtime's own driver calls depends on the version of both.
    Call{runtime_api, cudaMalloc, Deed::allocate, device},
    Call{runtime_api, cudaMallocPitch, Deed::allocate_pitch, device},
    Call{runtime_api, cudaFree, Deed::free, device},
    Call{runtime_api, cudaMallocManaged, Deed::allocate, managed},
    Call{runtime_api, cudaHostAlloc, Deed::allocate, pinned},
    Call{runtime_api, cudaMallocHost, Deed::allocate, pinned},
    Call{runtime_api, cudaFreeHost, Deed::free, pinned},
    Call{runtime_api, cudaHostRegister, Deed::register_host, pinned},
    Call{runtime_api, cudaHostUnregister, Deed::free, pinned},
    Call{runtime_api, cudaMallocAsync, Deed::allocate_from_stream, async},
    Call{runtime_api, cudaMallocAsync_ptsz, Deed::allocate_from_stream, async},
    Call{runtime_api, cudaMallocFromPoolAsync, Deed::allocate_from_pool, async},
    Call{runtime_api, cudaMallocFromPoolAsync_ptsz, Deed::allocate_from_pool, async},
    Call{runtime_api, cudaFreeAsync, Deed::free, async},
    Call{runtime_api, cudaFreeAsync_ptsz, Deed::free, async},
};

const Call* find_call(Domain domain, uint32_t id) {
    const auto found = std::find_if(calls.begin(), calls.end(),
                                    [&](const Call& call) { return call.domain == domain && call.id == id; });
    return found == calls.end() ? nullptr : &*found;
}

/// The address of the last driver call on this thread inside a runtime call. If the runtime call has the same address,
/// both are one allocation.
thread_local uint64_t seen_inside_runtime_call = 0;

template <class Params>
const Params& params(const CallbackData& data) {
    return *static_cast<const Params*>(data.parameters);
}

uint64_t bytes_per_element(int format) {
    switch (format) {
        case 0x01:
        case 0x08: return 1;  // 8-bit integers
        case 0x02:
        case 0x09:
        case 0x10: return 2;  // 16-bit integers, half
        case 0x03:
        case 0x0a:
        case 0x20: return 4;  // 32-bit integers, float
        default: return 0;    // video and block-compressed formats: unknown
    }
}

uint64_t array_bytes(uint64_t width, uint64_t height, uint64_t depth, int format, unsigned channels) {
    return std::max<uint64_t>(width, 1) * std::max<uint64_t>(height, 1) * std::max<uint64_t>(depth, 1) *
           bytes_per_element(format) * channels;
}

uint64_t array_bytes(const Array3DDescriptor& array_3d, unsigned levels) {
    uint64_t bytes = 0;
    for (unsigned level = 0; level < std::min(levels, 32u); ++level) {
        bytes += array_bytes(array_3d.width >> level, array_3d.height >> level, array_3d.depth >> level,
                             array_3d.format, array_3d.channels);
    }
    return bytes;
}

struct Allocated {
    uint64_t address, size;
};

/// Returns what a successful call allocated; nothing if it does not allocate.
std::optional<Allocated> allocation_of(Deed deed, const CallbackData& data) {
    const auto& plain = params<AllocateParams>(data);
    switch (deed) {
        case Deed::allocate:
        case Deed::allocate_from_stream:
        case Deed::allocate_from_pool: return Allocated{*plain.pointer, plain.size};
        case Deed::allocate_pitch: {
            const auto& pitched = params<PitchParams>(data);
            return Allocated{*pitched.pointer, *pitched.pitch * pitched.height};
        }
        case Deed::allocate_array: {
            const auto& created = params<ArrayParams>(data);
            const ArrayDescriptor& shape = *created.descriptor;
            return Allocated{*created.array, array_bytes(shape.width, shape.height, 1, shape.format, shape.channels)};
        }
        case Deed::allocate_array_3d: {
            const auto& created = params<Array3DParams>(data);
            return Allocated{*created.array, array_bytes(*created.descriptor, 1)};
        }
        case Deed::allocate_mipmaps: {
            const auto& created = params<MipmappedArrayParams>(data);
            return Allocated{*created.array, array_bytes(*created.descriptor, created.levels)};
        }
        case Deed::register_host: {
            const auto& range = params<RangeParams>(data);
            return Allocated{range.pointer, range.size};
        }
        case Deed::open_shared: {
            const uint64_t address = *params<OutParams>(data).pointer;
            return Allocated{address, cuda_driver::allocation_size(address)};
        }
        default: return std::nullopt;
    }
}

/// Returns the pool whose size a call may have changed; 0: the device's current pool.
std::optional<uint64_t> pool_used(Deed deed, const CallbackData& data) {
    switch (deed) {
        case Deed::allocate_from_stream: return 0;
        case Deed::allocate_from_pool: return params<PoolAllocateParams>(data).pool;
        case Deed::trim_pool: return params<FreeParams>(data).pointer;
        case Deed::create_pool: return *params<OutParams>(data).pointer;
        default: return std::nullopt;
    }
}

/// Returns whether the context owns the memory: not if it lies in a pool or is imported.
const void* owner(tidemark_memory memory, Context context) {
    return memory == async || memory == imported ? nullptr : context;
}

/// cuMemCreate also allocates host memory.
DriverMemory::Place place_of_physical(const AllocationProperties& properties, int device_now) {
    if (properties.location_type == location_device) {
        return {physical, properties.location_id, nullptr};
    }
    return {pinned, device_now, nullptr};
}

/// Handles a successful call that allocates nothing with an address.
void apply(const Call& call, const CallbackData& data, int device_now, DriverMemory& memory, DriverChanges& changes) {
    const uint64_t address = params<FreeParams>(data).pointer;
    switch (call.deed) {
        case Deed::free:
            memory.freed(address, *data.correlation_data, {call.memory, device_now, nullptr}, changes);
            break;
        case Deed::create_physical: {
            const auto& created = params<CreateParams>(data);
            memory.physical_created(*created.handle, created.size, place_of_physical(*created.properties, device_now),
                                    changes);
            break;
        }
        case Deed::retain_physical: memory.physical_retained(*params<OutParams>(data).pointer); break;
        case Deed::release_physical: memory.physical_released(address, *data.correlation_data, changes); break;
        case Deed::map: {
            const auto& map = params<MapParams>(data);
            memory.mapped(map.pointer, map.size, map.handle, device_now, changes);
            break;
        }
        case Deed::unmap: memory.unmapped(address, params<RangeParams>(data).size, changes); break;
        case Deed::destroy_pool: memory.pool_destroyed(address, changes); break;
        default: break;
    }
}

}  // namespace

std::vector<CallbackId> wanted_callbacks() {
    std::vector<CallbackId> wanted{
        {resource, context_created}, {resource, context_destroy_starting}, {resource, module_loaded}};
    for (const Call& call : calls) {
        wanted.push_back({call.domain, call.id});
    }
    return wanted;
}

int DriverCalls::device_of(Context context) const {
    uint32_t number = 0;
    if (context != nullptr && cupti_.get_device_id(context, &number) == success) {
        return static_cast<int>(number);
    }
    return cuda_driver::current_device().value_or(0);
}

DriverChanges DriverCalls::seen(Domain domain, uint32_t id, const void* data) {
    if (domain == resource) {
        return resource_seen(id, *static_cast<const ResourceData*>(data));
    }
    const auto& call = *static_cast<const CallbackData*>(data);
    if (call.site == enter) {
        call_begins(domain, id, call);
        return {};
    }
    return call_ended(domain, id, call);
}

DriverChanges DriverCalls::resource_seen(uint32_t id, const ResourceData& data) {
    DriverChange change{TIDEMARK_DRIVER_CONTEXT_CREATED,
                        TIDEMARK_MEMORY_DEVICE,
                        device_of(data.context),
                        reinterpret_cast<uint64_t>(data.context),
                        0,
                        0,
                        ticks()};
    if (id == context_destroy_starting) {
        change.action = TIDEMARK_DRIVER_CONTEXT_DESTROYED;
        const std::lock_guard lock(mutex_);
        memory_.context_destroyed(data.context);
    }
    if (id == module_loaded) {
        change.action = TIDEMARK_DRIVER_MODULE_LOADED;
        if (const auto* loaded = static_cast<const ModuleData*>(data.descriptor)) {
            change.size = loaded->cubin_size;
            change.handle = loaded->module_id;
        }
    }
    return {change};
}

void DriverCalls::call_begins(Domain domain, uint32_t id, const CallbackData& data) {
    if (domain == runtime_api) {
        seen_inside_runtime_call = 0;
    }
    const Call* call = find_call(domain, id);
    if (call == nullptr || (call->deed != Deed::free && call->deed != Deed::release_physical)) {
        return;
    }
    const uint64_t pointer = params<FreeParams>(data).pointer;
    const std::lock_guard lock(mutex_);
    *data.correlation_data = call->deed == Deed::free ? memory_.ticket(pointer) : memory_.physical_ticket(pointer);
}

DriverChanges DriverCalls::call_ended(Domain domain, uint32_t id, const CallbackData& data) {
    const Call* call = find_call(domain, id);
    if (call == nullptr || data.return_value == nullptr || *data.return_value != success) {
        return {};
    }
    const std::optional<Allocated> allocated = allocation_of(call->deed, data);
    const uint64_t address = allocated ? allocated->address : params<FreeParams>(data).pointer;
    if (domain == runtime_api && seen_inside_runtime_call == address) {
        return {};
    }
    if (address == 0) {
        return {};  // cudaFree(0), or cudaMalloc of 0 bytes
    }
    seen_inside_runtime_call = address;

    const int device_now = device_of(data.context);
    std::optional<uint64_t> used_pool = pool_used(call->deed, data);
    const auto held = used_pool ? cuda_driver::pool_reserved(*used_pool, device_now) : std::nullopt;
    DriverChanges changes;
    const std::lock_guard lock(mutex_);
    if (allocated) {
        const DriverMemory::Place place{call->memory, device_now, owner(call->memory, data.context)};
        memory_.allocated(address, allocated->size, place, changes);
    } else {
        apply(*call, data, device_now, memory_, changes);
    }
    if (held) {
        memory_.pool_holds(*used_pool, *held, device_now, changes);
    }
    return changes;
}

}  // namespace tidemark::recorder
