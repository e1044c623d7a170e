// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Compares the project's own declarations of CUDA, CUPTI and NVML with the real headers, if they are installed.
#include <gtest/gtest.h>

#include "recorder/driver/cupti_abi.h"
#include "recorder/driver/nvml_abi.h"

#if __has_include(<cupti.h>) && __has_include(<cuda.h>)
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti.h>
#define TIDEMARK_HAS_CUPTI_HEADERS 1
#endif
#if __has_include(<nvml.h>)
#include <nvml.h>
#define TIDEMARK_HAS_NVML_HEADER 1
#endif

namespace {

using namespace tidemark::recorder;

#define SAME_PLACE(ours, our_field, theirs, their_field)                        \
    static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field) && \
                  sizeof(ours::our_field) == sizeof(theirs::their_field))

#ifdef TIDEMARK_HAS_CUPTI_HEADERS

#define SAME_DRIVER_CALL(name) \
    static_assert(static_cast<int>(cupti::name) == static_cast<int>(CUPTI_DRIVER_TRACE_CBID_##name))
#define SAME_RUNTIME_CALL(name, real) \
    static_assert(static_cast<int>(cupti::name) == static_cast<int>(CUPTI_RUNTIME_TRACE_CBID_##real))

SAME_DRIVER_CALL(cuMemFreeHost);
SAME_DRIVER_CALL(cuMemHostAlloc);
SAME_DRIVER_CALL(cuArrayDestroy);
SAME_DRIVER_CALL(cuMemAlloc_v2);
SAME_DRIVER_CALL(cuMemAllocPitch_v2);
SAME_DRIVER_CALL(cuMemFree_v2);
SAME_DRIVER_CALL(cuMemHostAlloc_v2);
SAME_DRIVER_CALL(cuArrayCreate_v2);
SAME_DRIVER_CALL(cuArray3DCreate_v2);
SAME_DRIVER_CALL(cuMemAllocHost_v2);
SAME_DRIVER_CALL(cuMemHostUnregister);
SAME_DRIVER_CALL(cuIpcCloseMemHandle);
SAME_DRIVER_CALL(cuMipmappedArrayCreate);
SAME_DRIVER_CALL(cuMipmappedArrayDestroy);
SAME_DRIVER_CALL(cuMemAllocManaged);
SAME_DRIVER_CALL(cuMemHostRegister_v2);
SAME_DRIVER_CALL(cuMemCreate);
SAME_DRIVER_CALL(cuMemRelease);
SAME_DRIVER_CALL(cuMemMap);
SAME_DRIVER_CALL(cuMemUnmap);
SAME_DRIVER_CALL(cuMemRetainAllocationHandle);
SAME_DRIVER_CALL(cuIpcOpenMemHandle_v2);
SAME_DRIVER_CALL(cuMemAllocAsync);
SAME_DRIVER_CALL(cuMemAllocAsync_ptsz);
SAME_DRIVER_CALL(cuMemFreeAsync);
SAME_DRIVER_CALL(cuMemFreeAsync_ptsz);
SAME_DRIVER_CALL(cuMemPoolTrimTo);
SAME_DRIVER_CALL(cuMemPoolCreate);
SAME_DRIVER_CALL(cuMemPoolDestroy);
SAME_DRIVER_CALL(cuMemAllocFromPoolAsync);
SAME_DRIVER_CALL(cuMemAllocFromPoolAsync_ptsz);

SAME_RUNTIME_CALL(cudaMalloc, cudaMalloc_v3020);
SAME_RUNTIME_CALL(cudaMallocPitch, cudaMallocPitch_v3020);
SAME_RUNTIME_CALL(cudaFree, cudaFree_v3020);
SAME_RUNTIME_CALL(cudaMallocHost, cudaMallocHost_v3020);
SAME_RUNTIME_CALL(cudaFreeHost, cudaFreeHost_v3020);
SAME_RUNTIME_CALL(cudaHostAlloc, cudaHostAlloc_v3020);
SAME_RUNTIME_CALL(cudaHostRegister, cudaHostRegister_v4000);
SAME_RUNTIME_CALL(cudaHostUnregister, cudaHostUnregister_v4000);
SAME_RUNTIME_CALL(cudaMallocManaged, cudaMallocManaged_v6000);
SAME_RUNTIME_CALL(cudaMallocAsync, cudaMallocAsync_v11020);
SAME_RUNTIME_CALL(cudaMallocAsync_ptsz, cudaMallocAsync_ptsz_v11020);
SAME_RUNTIME_CALL(cudaFreeAsync, cudaFreeAsync_v11020);
SAME_RUNTIME_CALL(cudaFreeAsync_ptsz, cudaFreeAsync_ptsz_v11020);
SAME_RUNTIME_CALL(cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_v11020);
SAME_RUNTIME_CALL(cudaMallocFromPoolAsync_ptsz, cudaMallocFromPoolAsync_ptsz_v11020);

static_assert(static_cast<int>(cupti::driver_api) == CUPTI_CB_DOMAIN_DRIVER_API);
static_assert(static_cast<int>(cupti::runtime_api) == CUPTI_CB_DOMAIN_RUNTIME_API);
static_assert(static_cast<int>(cupti::resource) == CUPTI_CB_DOMAIN_RESOURCE);
static_assert(static_cast<int>(cupti::enter) == CUPTI_API_ENTER && static_cast<int>(cupti::exit) == CUPTI_API_EXIT);
static_assert(static_cast<int>(cupti::context_created) == CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
static_assert(static_cast<int>(cupti::context_destroy_starting) == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
static_assert(static_cast<int>(cupti::module_loaded) == CUPTI_CBID_RESOURCE_MODULE_LOADED);
static_assert(static_cast<int>(cupti::success) == CUPTI_SUCCESS && static_cast<int>(cupti::success) == CUDA_SUCCESS);
static_assert(static_cast<int>(cupti::max_limit_reached) == CUPTI_ERROR_MAX_LIMIT_REACHED);
static_assert(static_cast<int>(cupti::not_compatible) == CUPTI_ERROR_NOT_COMPATIBLE);
static_assert(static_cast<int>(cupti::insufficient_privileges) == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
static_assert(static_cast<int>(cupti::virtualized_insufficient_privileges) ==
              CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
static_assert(cupti::location_device == CU_MEM_LOCATION_TYPE_DEVICE);
static_assert(cupti::pool_reserved_now == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);

SAME_PLACE(cupti::CallbackData, site, CUpti_CallbackData, callbackSite);
SAME_PLACE(cupti::CallbackData, parameters, CUpti_CallbackData, functionParams);
SAME_PLACE(cupti::CallbackData, return_value, CUpti_CallbackData, functionReturnValue);
SAME_PLACE(cupti::CallbackData, context, CUpti_CallbackData, context);
SAME_PLACE(cupti::CallbackData, correlation_data, CUpti_CallbackData, correlationData);
static_assert(sizeof(cupti::CallbackData) == sizeof(CUpti_CallbackData));
SAME_PLACE(cupti::ResourceData, context, CUpti_ResourceData, context);
SAME_PLACE(cupti::ResourceData, descriptor, CUpti_ResourceData, resourceDescriptor);
SAME_PLACE(cupti::ModuleData, module_id, CUpti_ModuleResourceData, moduleId);
SAME_PLACE(cupti::ModuleData, cubin_size, CUpti_ModuleResourceData, cubinSize);

// New in CUPTI 13.
#if CUPTI_API_VERSION >= 130000
static_assert(static_cast<int>(cupti::multiple_subscribers) == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME_PLACE(cupti::SubscriberParams, struct_size, CUpti_SubscriberParams, structSize);
SAME_PLACE(cupti::SubscriberParams, subscriber_name, CUpti_SubscriberParams, subscriberName);
SAME_PLACE(cupti::SubscriberParams, old_subscriber_name, CUpti_SubscriberParams, oldSubscriberName);
SAME_PLACE(cupti::SubscriberParams, old_subscriber_size, CUpti_SubscriberParams, oldSubscriberSize);
static_assert(cupti::old_subscriber_name_size >= CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);
#endif

// All functions with the same parameter layout, by their own member names.
SAME_PLACE(cupti::AllocateParams, pointer, cuMemAlloc_v2_params, dptr);
SAME_PLACE(cupti::AllocateParams, size, cuMemAlloc_v2_params, bytesize);
SAME_PLACE(cupti::AllocateParams, pointer, cuMemAllocHost_v2_params, pp);
SAME_PLACE(cupti::AllocateParams, size, cuMemAllocHost_v2_params, bytesize);
SAME_PLACE(cupti::AllocateParams, pointer, cuMemHostAlloc_params, pp);
SAME_PLACE(cupti::AllocateParams, size, cuMemHostAlloc_params, bytesize);
SAME_PLACE(cupti::AllocateParams, pointer, cuMemAllocManaged_params, dptr);
SAME_PLACE(cupti::AllocateParams, size, cuMemAllocManaged_params, bytesize);
SAME_PLACE(cupti::AllocateParams, pointer, cuMemAllocAsync_params, dptr);
SAME_PLACE(cupti::AllocateParams, size, cuMemAllocAsync_params, bytesize);
SAME_PLACE(cupti::AllocateParams, pointer, cuMemAllocAsync_ptsz_params, dptr);
SAME_PLACE(cupti::AllocateParams, size, cuMemAllocAsync_ptsz_params, bytesize);
SAME_PLACE(cupti::AllocateParams, pointer, cuMemAllocFromPoolAsync_params, dptr);
SAME_PLACE(cupti::AllocateParams, size, cuMemAllocFromPoolAsync_params, bytesize);
SAME_PLACE(cupti::AllocateParams, pointer, cuMemCreate_params, handle);
SAME_PLACE(cupti::AllocateParams, size, cuMemCreate_params, size);
SAME_PLACE(cupti::AllocateParams, pointer, cudaMalloc_v3020_params, devPtr);
SAME_PLACE(cupti::AllocateParams, size, cudaMalloc_v3020_params, size);
SAME_PLACE(cupti::AllocateParams, pointer, cudaMallocHost_v3020_params, ptr);
SAME_PLACE(cupti::AllocateParams, size, cudaMallocHost_v3020_params, size);
SAME_PLACE(cupti::AllocateParams, pointer, cudaHostAlloc_v3020_params, pHost);
SAME_PLACE(cupti::AllocateParams, size, cudaHostAlloc_v3020_params, size);
SAME_PLACE(cupti::AllocateParams, pointer, cudaMallocManaged_v6000_params, devPtr);
SAME_PLACE(cupti::AllocateParams, size, cudaMallocManaged_v6000_params, size);
SAME_PLACE(cupti::AllocateParams, pointer, cudaMallocAsync_v11020_params, devPtr);
SAME_PLACE(cupti::AllocateParams, size, cudaMallocAsync_v11020_params, size);
SAME_PLACE(cupti::AllocateParams, pointer, cudaMallocFromPoolAsync_v11020_params, ptr);
SAME_PLACE(cupti::AllocateParams, size, cudaMallocFromPoolAsync_v11020_params, size);
SAME_PLACE(cupti::PoolAllocateParams, pool, cuMemAllocFromPoolAsync_params, pool);
SAME_PLACE(cupti::PoolAllocateParams, pool, cudaMallocFromPoolAsync_v11020_params, memPool);
SAME_PLACE(cupti::PitchParams, pointer, cuMemAllocPitch_v2_params, dptr);
SAME_PLACE(cupti::PitchParams, pitch, cuMemAllocPitch_v2_params, pPitch);
SAME_PLACE(cupti::PitchParams, width, cuMemAllocPitch_v2_params, WidthInBytes);
SAME_PLACE(cupti::PitchParams, height, cuMemAllocPitch_v2_params, Height);
SAME_PLACE(cupti::PitchParams, pointer, cudaMallocPitch_v3020_params, devPtr);
SAME_PLACE(cupti::PitchParams, pitch, cudaMallocPitch_v3020_params, pitch);
SAME_PLACE(cupti::PitchParams, width, cudaMallocPitch_v3020_params, width);
SAME_PLACE(cupti::PitchParams, height, cudaMallocPitch_v3020_params, height);
SAME_PLACE(cupti::FreeParams, pointer, cuMemFree_v2_params, dptr);
SAME_PLACE(cupti::FreeParams, pointer, cuMemFreeHost_params, p);
SAME_PLACE(cupti::FreeParams, pointer, cuMemHostUnregister_params, p);
SAME_PLACE(cupti::FreeParams, pointer, cuMemFreeAsync_params, dptr);
SAME_PLACE(cupti::FreeParams, pointer, cuMemRelease_params, handle);
SAME_PLACE(cupti::FreeParams, pointer, cuArrayDestroy_params, hArray);
SAME_PLACE(cupti::FreeParams, pointer, cuMipmappedArrayDestroy_params, hMipmappedArray);
SAME_PLACE(cupti::FreeParams, pointer, cuIpcCloseMemHandle_params, dptr);
SAME_PLACE(cupti::FreeParams, pointer, cuMemPoolDestroy_params, pool);
SAME_PLACE(cupti::FreeParams, pointer, cuMemPoolTrimTo_params, pool);
SAME_PLACE(cupti::FreeParams, pointer, cudaFree_v3020_params, devPtr);
SAME_PLACE(cupti::FreeParams, pointer, cudaFreeHost_v3020_params, ptr);
SAME_PLACE(cupti::FreeParams, pointer, cudaHostUnregister_v4000_params, ptr);
SAME_PLACE(cupti::FreeParams, pointer, cudaFreeAsync_v11020_params, devPtr);
SAME_PLACE(cupti::RangeParams, pointer, cuMemHostRegister_v2_params, p);
SAME_PLACE(cupti::RangeParams, size, cuMemHostRegister_v2_params, bytesize);
SAME_PLACE(cupti::RangeParams, pointer, cuMemUnmap_params, ptr);
SAME_PLACE(cupti::RangeParams, size, cuMemUnmap_params, size);
SAME_PLACE(cupti::RangeParams, pointer, cudaHostRegister_v4000_params, ptr);
SAME_PLACE(cupti::RangeParams, size, cudaHostRegister_v4000_params, size);
SAME_PLACE(cupti::OutParams, pointer, cuIpcOpenMemHandle_v2_params, pdptr);
SAME_PLACE(cupti::OutParams, pointer, cuMemPoolCreate_params, pool);
SAME_PLACE(cupti::OutParams, pointer, cuMemRetainAllocationHandle_params, handle);
SAME_PLACE(cupti::ArrayDescriptor, width, CUDA_ARRAY_DESCRIPTOR, Width);
SAME_PLACE(cupti::ArrayDescriptor, height, CUDA_ARRAY_DESCRIPTOR, Height);
SAME_PLACE(cupti::ArrayDescriptor, format, CUDA_ARRAY_DESCRIPTOR, Format);
SAME_PLACE(cupti::ArrayDescriptor, channels, CUDA_ARRAY_DESCRIPTOR, NumChannels);
SAME_PLACE(cupti::Array3DDescriptor, width, CUDA_ARRAY3D_DESCRIPTOR, Width);
SAME_PLACE(cupti::Array3DDescriptor, height, CUDA_ARRAY3D_DESCRIPTOR, Height);
SAME_PLACE(cupti::Array3DDescriptor, depth, CUDA_ARRAY3D_DESCRIPTOR, Depth);
SAME_PLACE(cupti::Array3DDescriptor, format, CUDA_ARRAY3D_DESCRIPTOR, Format);
SAME_PLACE(cupti::Array3DDescriptor, channels, CUDA_ARRAY3D_DESCRIPTOR, NumChannels);
SAME_PLACE(cupti::ArrayParams, array, cuArrayCreate_v2_params, pHandle);
SAME_PLACE(cupti::ArrayParams, descriptor, cuArrayCreate_v2_params, pAllocateArray);
SAME_PLACE(cupti::Array3DParams, array, cuArray3DCreate_v2_params, pHandle);
SAME_PLACE(cupti::Array3DParams, descriptor, cuArray3DCreate_v2_params, pAllocateArray);
SAME_PLACE(cupti::MipmappedArrayParams, array, cuMipmappedArrayCreate_params, pHandle);
SAME_PLACE(cupti::MipmappedArrayParams, descriptor, cuMipmappedArrayCreate_params, pMipmappedArrayDesc);
SAME_PLACE(cupti::MipmappedArrayParams, levels, cuMipmappedArrayCreate_params, numMipmapLevels);
static_assert(offsetof(cupti::AllocationProperties, location_type) == offsetof(CUmemAllocationProp, location));
SAME_PLACE(cupti::AllocationProperties, location_type, CUmemAllocationProp, location.type);
SAME_PLACE(cupti::AllocationProperties, location_id, CUmemAllocationProp, location.id);
SAME_PLACE(cupti::CreateParams, handle, cuMemCreate_params, handle);
SAME_PLACE(cupti::CreateParams, size, cuMemCreate_params, size);
SAME_PLACE(cupti::CreateParams, properties, cuMemCreate_params, prop);
SAME_PLACE(cupti::MapParams, pointer, cuMemMap_params, ptr);
SAME_PLACE(cupti::MapParams, size, cuMemMap_params, size);
SAME_PLACE(cupti::MapParams, offset, cuMemMap_params, offset);
SAME_PLACE(cupti::MapParams, handle, cuMemMap_params, handle);

TEST(Abi, Cupti) { SUCCEED() << "compared with CUPTI " << CUPTI_API_VERSION << " while compiling"; }
#else
TEST(Abi, Cupti) { GTEST_SKIP() << "There are no CUPTI headers here to compare with."; }
#endif

#ifdef TIDEMARK_HAS_NVML_HEADER
static_assert(static_cast<int>(nvml::success) == NVML_SUCCESS);
static_assert(static_cast<int>(nvml::not_supported) == NVML_ERROR_NOT_SUPPORTED);
static_assert(static_cast<int>(nvml::not_found) == NVML_ERROR_NOT_FOUND);
static_assert(static_cast<int>(nvml::insufficient_size) == NVML_ERROR_INSUFFICIENT_SIZE);
static_assert(static_cast<int>(nvml::driver_not_loaded) == NVML_ERROR_DRIVER_NOT_LOADED);
static_assert(static_cast<int>(nvml::lib_rm_version_mismatch) == NVML_ERROR_LIB_RM_VERSION_MISMATCH);
static_assert(sizeof(nvml::Device) == sizeof(nvmlDevice_t));
SAME_PLACE(nvml::Memory, total, nvmlMemory_t, total);
SAME_PLACE(nvml::Memory, used, nvmlMemory_t, used);
SAME_PLACE(nvml::MemoryV2, version, nvmlMemory_v2_t, version);
SAME_PLACE(nvml::MemoryV2, total, nvmlMemory_v2_t, total);
SAME_PLACE(nvml::MemoryV2, used, nvmlMemory_v2_t, used);
static_assert(nvml::memory_v2_version == nvmlMemory_v2);
static_assert(sizeof(nvml::ProcessV1) == sizeof(nvmlProcessInfo_v1_t));
SAME_PLACE(nvml::ProcessV1, used, nvmlProcessInfo_v1_t, usedGpuMemory);
static_assert(sizeof(nvml::ProcessV2) == sizeof(nvmlProcessInfo_v2_t));
SAME_PLACE(nvml::ProcessV2, pid, nvmlProcessInfo_v2_t, pid);
SAME_PLACE(nvml::ProcessV2, used, nvmlProcessInfo_v2_t, usedGpuMemory);
static_assert(nvml::value_not_available == static_cast<unsigned long long>(NVML_VALUE_NOT_AVAILABLE));
static_assert(nvml::driver_version_size == NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE);

TEST(Abi, Nvml) { SUCCEED() << "compared with nvml.h " << NVML_API_VERSION << " while compiling"; }
#else
TEST(Abi, Nvml) { GTEST_SKIP() << "There is no nvml.h here to compare with."; }
#endif

}  // namespace
