// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Declarations of CUPTI and of the CUDA driver for the driver part, which is built without CUDA headers.
//
// From cupti_callbacks.h, cupti_result.h, cupti_driver_cbid.h, cupti_runtime_cbid.h, generated_cuda_meta.h and cuda.h
// of CUDA 13.0. Callback ids are never renumbered, and a parameter struct belongs to one version of a function. So
// they are valid for CUPTI 12 and 13; an older CUPTI never sends callbacks of a later one.
// tests/driver/abi_test.cpp compares them with the CUDA headers if those are installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidemark::recorder::cupti {

enum Result : int {
    success = 0,
    max_limit_reached = 12,  // what CUPTI 12 returns if there is a subscriber already
    not_compatible = 14,
    insufficient_privileges = 35,
    multiple_subscribers = 39,
    virtualized_insufficient_privileges = 40,
};

enum Site : int { enter = 0, exit = 1 };

enum Domain : int { driver_api = 1, runtime_api = 2, resource = 3 };

using Context = void*;
using Subscriber = void*;
using Callback = void (*)(void* user, Domain domain, uint32_t id, const void* data);

/// CUpti_CallbackData
struct CallbackData {
    Site site;
    const char* function_name;
    const void* parameters;
    const int* return_value;  ///< CUresult or cudaError_t; valid at exit
    const char* symbol_name;
    Context context;
    uint32_t context_uid;
    uint64_t* correlation_data;  ///< available to the subscriber from enter to exit
    uint32_t correlation_id;
};

/// CUpti_ResourceData
struct ResourceData {
    Context context;
    void* stream;
    const void* descriptor;
};

/// CUpti_ModuleResourceData
struct ModuleData {
    uint32_t module_id;
    size_t cubin_size;
    const char* cubin;
};

/// CUpti_SubscriberParams
struct SubscriberParams {
    size_t struct_size;
    const char* subscriber_name;
    char* old_subscriber_name;
    size_t old_subscriber_size;
};
constexpr size_t old_subscriber_name_size = 64;

enum ResourceCallback : uint32_t { context_created = 1, context_destroy_starting = 2, module_loaded = 6 };

enum DriverCallback : uint32_t {
    cuMemFreeHost = 38,
    cuMemHostAlloc = 39,
    cuArrayDestroy = 89,
    cuMemAlloc_v2 = 243,
    cuMemAllocPitch_v2 = 244,
    cuMemFree_v2 = 245,
    cuMemHostAlloc_v2 = 271,
    cuArrayCreate_v2 = 272,
    cuArray3DCreate_v2 = 274,
    cuMemAllocHost_v2 = 294,
    cuMemHostUnregister = 302,
    cuIpcCloseMemHandle = 330,
    cuMipmappedArrayCreate = 347,
    cuMipmappedArrayDestroy = 349,
    cuMemAllocManaged = 371,
    cuMemHostRegister_v2 = 379,
    cuMemCreate = 549,
    cuMemRelease = 550,
    cuMemMap = 551,
    cuMemUnmap = 552,
    cuMemRetainAllocationHandle = 565,
    cuIpcOpenMemHandle_v2 = 567,
    cuMemAllocAsync = 598,
    cuMemAllocAsync_ptsz = 599,
    cuMemFreeAsync = 600,
    cuMemFreeAsync_ptsz = 601,
    cuMemPoolTrimTo = 602,
    cuMemPoolCreate = 607,
    cuMemPoolDestroy = 608,
    cuMemAllocFromPoolAsync = 611,
    cuMemAllocFromPoolAsync_ptsz = 612,
};

enum RuntimeCallback : uint32_t {
    cudaMalloc = 20,
    cudaMallocPitch = 21,
    cudaFree = 22,
    cudaMallocHost = 25,
    cudaFreeHost = 26,
    cudaHostAlloc = 27,
    cudaHostRegister = 152,
    cudaHostUnregister = 153,
    cudaMallocManaged = 206,
    cudaMallocAsync = 373,
    cudaMallocAsync_ptsz = 374,
    cudaFreeAsync = 375,
    cudaFreeAsync_ptsz = 376,
    cudaMallocFromPoolAsync = 391,
    cudaMallocFromPoolAsync_ptsz = 392,
};

// Parameter structs by layout. The comments list the functions whose parameters begin with it.

/// cuMemAlloc_v2, cuMemAllocHost_v2, cuMemHostAlloc, cuMemAllocManaged, cuMemAllocAsync, cuMemAllocFromPoolAsync,
/// cuMemCreate (a handle); cudaMalloc, cudaMallocHost, cudaHostAlloc, cudaMallocManaged, cudaMallocAsync,
/// cudaMallocFromPoolAsync
struct AllocateParams {
    const uint64_t* pointer;
    size_t size;
};

/// cuMemAllocFromPoolAsync
struct PoolAllocateParams {
    const uint64_t* pointer;
    size_t size;
    uint64_t pool;
};

/// cuMemAllocPitch_v2; cudaMallocPitch
struct PitchParams {
    const uint64_t* pointer;
    const size_t* pitch;
    size_t width, height;
};

/// cuMemFree_v2, cuMemFreeHost, cuMemHostUnregister, cuMemFreeAsync, cuMemRelease, cuArrayDestroy,
/// cuMipmappedArrayDestroy, cuIpcCloseMemHandle, cuMemPoolDestroy, cuMemPoolTrimTo; cudaFree, cudaFreeHost,
/// cudaHostUnregister, cudaFreeAsync
struct FreeParams {
    uint64_t pointer;
};

/// cuMemHostRegister_v2, cuMemUnmap; cudaHostRegister
struct RangeParams {
    uint64_t pointer;
    size_t size;
};

/// cuIpcOpenMemHandle_v2, cuMemPoolCreate, cuMemRetainAllocationHandle
struct OutParams {
    const uint64_t* pointer;
};

/// CUDA_ARRAY_DESCRIPTOR
struct ArrayDescriptor {
    size_t width, height;
    int format;
    unsigned channels;
};
/// CUDA_ARRAY3D_DESCRIPTOR
struct Array3DDescriptor {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
};
struct ArrayParams {
    const uint64_t* array;
    const ArrayDescriptor* descriptor;
};
/// cuArray3DCreate_v2; cuMipmappedArrayCreate
struct Array3DParams {
    const uint64_t* array;
    const Array3DDescriptor* descriptor;
};
struct MipmappedArrayParams {
    const uint64_t* array;
    const Array3DDescriptor* descriptor;
    unsigned levels;
};

/// The first members of CUmemAllocationProp
struct AllocationProperties {
    int type, handle_types;
    int location_type, location_id;
};
constexpr int location_device = 1;

struct CreateParams {
    const uint64_t* handle;
    size_t size;
    const AllocationProperties* properties;
};
struct MapParams {
    uint64_t pointer;
    size_t size, offset;
    uint64_t handle;
};

constexpr int pool_reserved_now = 5;  ///< CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT

}  // namespace tidemark::recorder::cupti
