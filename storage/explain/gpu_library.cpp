// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/gpu_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "storage/base/units.h"

namespace tidemark {
namespace {

/// A folder of a library's Python files in site-packages, or the begin of the name of a shared object.
struct Sign {
    std::string_view text;
    GpuLibrary library;
};

constexpr std::array folders{Sign{"/torch/", GpuLibrary::pytorch},   Sign{"/cupy/", GpuLibrary::cupy},
                             Sign{"/cupyx/", GpuLibrary::cupy},      Sign{"/jax/", GpuLibrary::jax},
                             Sign{"/jaxlib/", GpuLibrary::jax},      Sign{"/numba/", GpuLibrary::numba},
                             Sign{"/numba_cuda/", GpuLibrary::numba}};

constexpr std::array objects{Sign{"libc10", GpuLibrary::pytorch}, Sign{"libtorch", GpuLibrary::pytorch},
                             Sign{"cupy", GpuLibrary::cupy},      Sign{"libjax", GpuLibrary::jax},
                             Sign{"jaxlib", GpuLibrary::jax},     Sign{"xla_", GpuLibrary::jax},
                             Sign{"jax_", GpuLibrary::jax}};

GpuLibrary library_of_frame(const StackTable& stacks, FrameId id) {
    std::string_view file = stacks.string(stacks.frame(id).file);
    const size_t packages = file.rfind("-packages");
    if (packages == file.npos || stacks.role(id) != FrameRole::library) {
        return GpuLibrary::none;
    }
    file.remove_prefix(packages);  // a folder above may have the name of a library, too
    const auto found = std::find_if(folders.begin(), folders.end(),
                                    [&](const Sign& sign) { return file.find(sign.text) != file.npos; });
    return found == folders.end() ? GpuLibrary::none : found->library;
}

GpuLibrary library_of_object(std::string_view name) {
    const auto found =
        std::find_if(objects.begin(), objects.end(), [&](const Sign& sign) { return name.starts_with(sign.text); });
    return found == objects.end() ? GpuLibrary::none : found->library;
}

/// Returns whether JAX's largest block is the one that it allocated at its start: by default three quarters of what is
/// free, else the part that XLA_PYTHON_CLIENT_MEM_FRACTION sets. Without it, each further block is as large as all
/// before, or as a request that is larger. before: bytes of the blocks before it.
bool is_preallocated(int64_t largest, int64_t before, int64_t all_of_jax, int64_t device) {
    const bool is_first = before * 16 <= largest;
    return device > 0 && is_first &&
           (largest * 4 >= device || (largest * 64 >= device && largest * 4 >= all_of_jax * 3));
}

Fix fix(std::string text, std::string code, int64_t bytes, std::optional<int64_t> per_iteration) {
    return {std::move(text), std::move(code), bytes, per_iteration};
}

}  // namespace

GpuLibrary gpu_library_of(const Trace& trace, StackId stack) {
    if (trace.event_source == EventSource::caching_allocator) {
        return GpuLibrary::pytorch;
    }
    for (const FrameId frame : trace.stacks.frames_of(stack)) {
        if (const GpuLibrary library = library_of_frame(trace.stacks, frame); library != GpuLibrary::none) {
            return library;
        }
    }
    const auto call = std::find_if(trace.driver_allocations.begin(), trace.driver_allocations.end(),
                                   [&](const DriverAllocation& a) { return a.stack == stack && !a.source.empty(); });
    return call == trace.driver_allocations.end() ? GpuLibrary::none : library_of_object(call->source);
}

bool has_pytorch(const Trace& trace) {
    if (trace.event_source == EventSource::caching_allocator) {
        return true;
    }
    return std::any_of(trace.driver_allocations.begin(), trace.driver_allocations.end(),
                       [](const DriverAllocation& a) { return library_of_object(a.source) == GpuLibrary::pytorch; }) ||
           std::any_of(trace.origins.begin(), trace.origins.end(),
                       [](const Origin& origin) { return !origin.op.empty(); });
}

std::vector<Fix> fixes_of_driver_growth(GpuLibrary library, int64_t bytes, int64_t per_iteration, const Words& words) {
    switch (library) {
        case GpuLibrary::cupy:
            return {fix(words("Find what retains the arrays of this line beyond its iteration, such as a list or an "
                              "attribute, and copy what must stay to the host."),
                        "results.append(array.get())", bytes, per_iteration),
                    fix(words("If no array is retained, return the free blocks of CuPy's memory pool to the driver."),
                        "cupy.get_default_memory_pool().free_all_blocks()", bytes, {})};
        case GpuLibrary::jax:
            return {fix(words("Find what retains the arrays of this line beyond its iteration. JAX lists all arrays "
                              "that are alive."),
                        "for array in jax.live_arrays():\n    print(array.shape, array.nbytes)", bytes, per_iteration),
                    fix(words("Copy what must stay to the host."), "history.append(jax.device_get(array))", bytes,
                        per_iteration)};
        case GpuLibrary::numba:
            return {fix(words("Find what retains the device arrays of this line beyond its iteration, and copy what "
                              "must stay to the host."),
                        "results.append(device_array.copy_to_host())", bytes, per_iteration),
                    fix(words("If no array is retained: Numba defers deallocations; free the pending ones."),
                        "cuda.current_context().deallocations.clear()", bytes, {})};
        default:
            return {fix(words("Free the memory when the program no longer needs it, or allocate it once and reuse it "
                              "in each iteration."),
                        "cudaFree(area);", bytes, per_iteration)};
    }
}

std::string host_copy_of(GpuLibrary library, std::string_view expression) {
    switch (library) {
        case GpuLibrary::cupy: return fmt::format("{}.get()", expression);
        case GpuLibrary::numba: return fmt::format("{}.copy_to_host()", expression);
        case GpuLibrary::jax: return fmt::format("jax.device_get({})", expression);
        case GpuLibrary::pytorch:
            return fmt::format("{}{}.cpu()", expression, expression.ends_with(".detach()") ? "" : ".detach()");
        case GpuLibrary::none: break;
    }
    return {};
}

std::string preallocation_note(const Trace& trace, const DeviceHistory& device, const Words& words) {
    const DriverAllocation* largest = nullptr;
    int64_t all = 0, before = 0;
    for (const DriverAllocation& a : trace.driver_allocations) {
        // Memory is mapped that was allocated as physical memory.
        const bool is_jax = a.device == device.device && library_of_object(a.source) == GpuLibrary::jax &&
                            a.kind != DriverMemoryKind::mapped && a.kind != DriverMemoryKind::pinned;
        if (is_jax && (largest == nullptr || a.bytes > largest->bytes)) {
            largest = &a;
            before = all;
        }
        all += is_jax ? static_cast<int64_t>(a.bytes) : 0;
    }
    if (largest == nullptr || !is_preallocated(static_cast<int64_t>(largest->bytes), before, all, device.total_bytes)) {
        return {};
    }
    const double share = static_cast<double>(largest->bytes) / static_cast<double>(device.total_bytes);
    return words(
        "JAX allocated {bytes} ({share} of the GPU) in one block. Its arrays lie in this block, so the trace does not "
        "show whether they grow. `jax.live_arrays()` lists them. With XLA_PYTHON_CLIENT_PREALLOCATE=false the block "
        "grows when it is needed; with XLA_PYTHON_CLIENT_ALLOCATOR=platform each array is an allocation of its own.",
        with("bytes", format_bytes(static_cast<int64_t>(largest->bytes))), with("share", Words::percent(share)));
}

std::string pool_note(GpuLibrary library, const Words& words) {
    if (library == GpuLibrary::cupy) {
        return words(
            "CuPy's memory pool reuses the memory of freed arrays and returns none of it to the driver. Its "
            "driver memory grows when arrays are retained, or when an array needs a larger block than any "
            "free one. The line is where the pool grew.");
    }
    if (library == GpuLibrary::jax) {
        return words(
            "JAX's allocator may hold several arrays in one block of the driver. The line is where the "
            "allocator grew.");
    }
    return {};
}

}  // namespace tidemark
