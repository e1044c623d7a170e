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

/// The effect of a call. It determines the parameters.
enum class CallEffect : uint8_t {
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
    CallEffect effect;
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
    Call{driver_api, cuMemAlloc_v2, CallEffect::allocate, device},
    Call{driver_api, cuMemAllocPitch_v2, CallEffect::allocate_pitch, device},
    Call{driver_api, cuMemFree_v2, CallEffect::free, device},
    Call{driver_api, cuMemAllocManaged, CallEffect::allocate, managed},
    Call{driver_api, cuMemHostAlloc, CallEffect::allocate, pinned},
    Call{driver_api, cuMemHostAlloc_v2, CallEffect::allocate, pinned},
    Call{driver_api, cuMemAllocHost_v2, CallEffect::allocate, pinned},
    Call{driver_api, cuMemFreeHost, CallEffect::free, pinned},
    Call{driver_api, cuMemHostRegister_v2, CallEffect::register_host, pinned},
    Call{driver_api, cuMemHostUnregister, CallEffect::free, pinned},
    Call{driver_api, cuArrayCreate_v2, CallEffect::allocate_array, array},
    Call{driver_api, cuArray3DCreate_v2, CallEffect::allocate_array_3d, array},
    Call{driver_api, cuArrayDestroy, CallEffect::free, array},
    Call{driver_api, cuMipmappedArrayCreate, CallEffect::allocate_mipmaps, array},
    Call{driver_api, cuMipmappedArrayDestroy, CallEffect::free, array},
    Call{driver_api, cuMemCreate, CallEffect::create_physical, physical},
    Call{driver_api, cuMemRetainAllocationHandle, CallEffect::retain_physical, physical},
    Call{driver_api, cuMemRelease, CallEffect::release_physical, physical},
    Call{driver_api, cuMemMap, CallEffect::map, imported},
    Call{driver_api, cuMemUnmap, CallEffect::unmap, imported},
    Call{driver_api, cuIpcOpenMemHandle_v2, CallEffect::open_shared, imported},
    Call{driver_api, cuIpcCloseMemHandle, CallEffect::free, imported},
    Call{driver_api, cuMemAllocAsync, CallEffect::allocate_from_stream, async},
    Call{driver_api, cuMemAllocAsync_ptsz, CallEffect::allocate_from_stream, async},
    Call{driver_api, cuMemAllocFromPoolAsync, CallEffect::allocate_from_pool, async},
    Call{driver_api, cuMemAllocFromPoolAsync_ptsz, CallEffect::allocate_from_pool, async},
    Call{driver_api, cuMemFreeAsync, CallEffect::free, async},
    Call{driver_api, cuMemFreeAsync_ptsz, CallEffect::free, async},
    Call{driver_api, cuMemPoolCreate, CallEffect::create_pool, pool},
    Call{driver_api, cuMemPoolTrimTo, CallEffect::trim_pool, pool},
    Call{driver_api, cuMemPoolDestroy, CallEffect::destroy_pool, pool},
    // Whether CUPTI reports the runtime's own driver calls depends on the version of both.
    Call{runtime_api, cudaMalloc, CallEffect::allocate, device},
    Call{runtime_api, cudaMallocPitch, CallEffect::allocate_pitch, device},
    Call{runtime_api, cudaFree, CallEffect::free, device},
    Call{runtime_api, cudaMallocManaged, CallEffect::allocate, managed},
    Call{runtime_api, cudaHostAlloc, CallEffect::allocate, pinned},
    Call{runtime_api, cudaMallocHost, CallEffect::allocate, pinned},
    Call{runtime_api, cudaFreeHost, CallEffect::free, pinned},
    Call{runtime_api, cudaHostRegister, CallEffect::register_host, pinned},
    Call{runtime_api, cudaHostUnregister, CallEffect::free, pinned},
    Call{runtime_api, cudaMallocAsync, CallEffect::allocate_from_stream, async},
    Call{runtime_api, cudaMallocAsync_ptsz, CallEffect::allocate_from_stream, async},
    Call{runtime_api, cudaMallocFromPoolAsync, CallEffect::allocate_from_pool, async},
    Call{runtime_api, cudaMallocFromPoolAsync_ptsz, CallEffect::allocate_from_pool, async},
    Call{runtime_api, cudaFreeAsync, CallEffect::free, async},
    Call{runtime_api, cudaFreeAsync_ptsz, CallEffect::free, async},
};

const Call* find_call(Domain domain, uint32_t id) {
    const auto found = std::find_if(calls.begin(), calls.end(),
                                    [&](const Call& call) { return call.domain == domain && call.id == id; });
    return found == calls.end() ? nullptr : &*found;
}

/// Address of the last driver call inside a runtime call of this thread. If the runtime call has the same address, both
/// are one allocation.
thread_local uint64_t address_inside_runtime_call = 0;

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
std::optional<Allocated> allocation_of(CallEffect effect, const CallbackData& data) {
    const auto& plain = params<AllocateParams>(data);
    switch (effect) {
        case CallEffect::allocate:
        case CallEffect::allocate_from_stream:
        case CallEffect::allocate_from_pool: return Allocated{*plain.pointer, plain.size};
        case CallEffect::allocate_pitch: {
            const auto& pitched = params<PitchParams>(data);
            return Allocated{*pitched.pointer, *pitched.pitch * pitched.height};
        }
        case CallEffect::allocate_array: {
            const auto& created = params<ArrayParams>(data);
            const ArrayDescriptor& shape = *created.descriptor;
            return Allocated{*created.array, array_bytes(shape.width, shape.height, 1, shape.format, shape.channels)};
        }
        case CallEffect::allocate_array_3d: {
            const auto& created = params<Array3DParams>(data);
            return Allocated{*created.array, array_bytes(*created.descriptor, 1)};
        }
        case CallEffect::allocate_mipmaps: {
            const auto& created = params<MipmappedArrayParams>(data);
            return Allocated{*created.array, array_bytes(*created.descriptor, created.levels)};
        }
        case CallEffect::register_host: {
            const auto& range = params<RangeParams>(data);
            return Allocated{range.pointer, range.size};
        }
        case CallEffect::open_shared: {
            const uint64_t address = *params<OutParams>(data).pointer;
            return Allocated{address, cuda_driver::allocation_size(address)};
        }
        default: return std::nullopt;
    }
}

/// Returns the pool whose size a call may have changed; 0: the device's current pool.
std::optional<uint64_t> pool_used(CallEffect effect, const CallbackData& data) {
    switch (effect) {
        case CallEffect::allocate_from_stream: return 0;
        case CallEffect::allocate_from_pool: return params<PoolAllocateParams>(data).pool;
        case CallEffect::trim_pool: return params<FreeParams>(data).pointer;
        case CallEffect::create_pool: return *params<OutParams>(data).pointer;
        default: return std::nullopt;
    }
}

/// Returns the context that owns the memory; nullptr if the memory belongs to a pool or is imported.
const void* owner(tidemark_memory memory, Context context) {
    return memory == async || memory == imported ? nullptr : context;
}

/// Returns the device or, since cuMemCreate also allocates host memory, pinned memory.
DriverMemory::Place place_of_physical(const AllocationProperties& properties, int device_now) {
    if (properties.location_type == location_device) {
        return {physical, properties.location_id, nullptr};
    }
    return {pinned, device_now, nullptr};
}

/// Returns how many events a change is where driver allocations are the device's events.
uint8_t events_of(const DriverChange& change) {
    const bool takes_device_memory = change.memory == device || change.memory == async || change.memory == managed ||
                                     change.memory == array || change.memory == physical;
    if (!takes_device_memory || change.size == 0) {
        return 0;
    }
    return change.action == TIDEMARK_DRIVER_ALLOC ? TIDEMARK_EVENTS_OF_DRIVER_ALLOC : TIDEMARK_EVENTS_OF_DRIVER_FREE;
}

/// Handles a successful call for which allocation_of() returns nothing.
void apply(const Call& call, const CallbackData& data, int device_now, DriverMemory& memory, DriverChanges& changes) {
    const uint64_t address = params<FreeParams>(data).pointer;
    switch (call.effect) {
        case CallEffect::free:
            memory.freed(address, *data.correlation_data, {call.memory, device_now, nullptr}, changes);
            break;
        case CallEffect::create_physical: {
            const auto& created = params<CreateParams>(data);
            memory.physical_created(*created.handle, created.size, place_of_physical(*created.properties, device_now),
                                    changes);
            break;
        }
        case CallEffect::retain_physical: memory.physical_retained(*params<OutParams>(data).pointer); break;
        case CallEffect::release_physical: memory.physical_released(address, *data.correlation_data, changes); break;
        case CallEffect::map: {
            const auto& map = params<MapParams>(data);
            memory.mapped(map.pointer, map.size, map.handle, device_now, changes);
            break;
        }
        case CallEffect::unmap: memory.unmapped(address, params<RangeParams>(data).size, changes); break;
        case CallEffect::destroy_pool: memory.pool_destroyed(address, changes); break;
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

DriverChanges DriverCalls::on_callback(Domain domain, uint32_t id, const void* data) {
    if (domain == resource) {
        return on_resource(id, *static_cast<const ResourceData*>(data));
    }
    const auto& call = *static_cast<const CallbackData*>(data);
    if (call.site == enter) {
        call_begins(domain, id, call);
        return {};
    }
    return call_ended(domain, id, call);
}

void DriverCalls::number(DriverChanges& changes) const {
    const int recording = core_.recording();
    for (DriverChange& change : changes) {
        // A free of memory from before the recording is no event, because its allocation is none.
        change.events = recording != 0 && change.recording == recording ? events_of(change) : 0;
        if (change.events > 0) {
            change.sequence = core_.number_driver_events(static_cast<uint32_t>(change.device), change.events);
        }
    }
}

std::optional<DriverCalls::Place> DriverCalls::place_of(uint64_t address) {
    const std::lock_guard lock(mutex_);
    memory_.set_recording(core_.recording());
    const auto block = memory_.block_at(address);
    return block ? std::optional(Place{*block, core_.driver_events(static_cast<uint32_t>(block->device))})
                 : std::nullopt;
}

DriverChanges DriverCalls::on_resource(uint32_t id, const ResourceData& data) {
    DriverChanges changes;
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
        memory_.context_destroyed(data.context, changes);
        number(changes);
    }
    if (id == module_loaded) {
        change.action = TIDEMARK_DRIVER_MODULE_LOADED;
        if (const auto* loaded = static_cast<const ModuleData*>(data.descriptor)) {
            change.size = loaded->cubin_size;
            change.handle = loaded->module_id;
        }
    }
    changes.push_back(change);
    return changes;
}

void DriverCalls::call_begins(Domain domain, uint32_t id, const CallbackData& data) {
    if (domain == runtime_api) {
        address_inside_runtime_call = 0;
    }
    const Call* call = find_call(domain, id);
    if (call == nullptr || (call->effect != CallEffect::free && call->effect != CallEffect::release_physical)) {
        return;
    }
    const uint64_t pointer = params<FreeParams>(data).pointer;
    const std::lock_guard lock(mutex_);
    *data.correlation_data =
        call->effect == CallEffect::free ? memory_.ticket(pointer) : memory_.physical_ticket(pointer);
}

DriverChanges DriverCalls::call_ended(Domain domain, uint32_t id, const CallbackData& data) {
    const Call* call = find_call(domain, id);
    if (call == nullptr || data.return_value == nullptr || *data.return_value != success) {
        return {};
    }
    const std::optional<Allocated> allocated = allocation_of(call->effect, data);
    const uint64_t address = allocated ? allocated->address : params<FreeParams>(data).pointer;
    if (domain == runtime_api && address_inside_runtime_call == address) {
        return {};
    }
    if (address == 0) {
        return {};  // cudaFree(0), or cudaMalloc of 0 bytes
    }
    address_inside_runtime_call = address;

    const int device_now = device_of(data.context);
    std::optional<uint64_t> used_pool = pool_used(call->effect, data);
    const auto held = used_pool ? cuda_driver::pool_reserved(*used_pool, device_now) : std::nullopt;
    DriverChanges changes;
    const std::lock_guard lock(mutex_);
    memory_.set_recording(core_.recording());
    if (allocated) {
        const DriverMemory::Place place{call->memory, device_now, owner(call->memory, data.context)};
        memory_.allocated(address, allocated->size, place, changes);
    } else {
        apply(*call, data, device_now, memory_, changes);
    }
    if (held) {
        memory_.set_pool_bytes(*used_pool, *held, device_now, changes);
    }
    number(changes);
    return changes;
}

}  // namespace tidemark::recorder
