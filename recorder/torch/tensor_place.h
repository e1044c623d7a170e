// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reads the address of a tensor's memory from its fields. Calls of the tensor could run Python code of subclasses, copy
// copy-on-write storages, or throw for fake tensors.
#pragma once

#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>

#include <cstdint>
#include <limits>

#include "recorder/core/records.h"

namespace tidemark::plugin {

using StrongTensor = c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
/// Retains neither the tensor nor its memory.
using WeakTensor = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

struct TensorPlace {
    uint64_t address = 0;  ///< of the storage; 0: none
    uint8_t device = TIDEMARK_NO_DEVICE;
    uint64_t storage_bytes = 0;
};

inline TensorPlace place_of(const c10::TensorImpl& tensor) {
    const c10::Storage& storage = tensor.unsafe_storage();
    if (!storage) {
        return {};
    }
    c10::StorageImpl& memory = *storage.unsafeGetStorageImpl();
    const c10::DataPtr& data = memory._mutable_data_ptr_no_checks();
    TensorPlace place;
    place.address = reinterpret_cast<uintptr_t>(data.get());
    if (data.device().is_cuda()) {
        place.device = static_cast<uint8_t>(data.device().index());
    }
    if (const auto bytes = memory.sym_nbytes().maybe_as_int()) {
        place.storage_bytes = static_cast<uint64_t>(*bytes);
    }
    return place;
}

/// `offset`: bytes from the start of the storage to the first element. `bytes`: size of all elements.
struct TensorExtent {
    uint64_t offset = 0, bytes = 0;
};

/// Returns the extent. For subclasses with Python code, this is the whole storage.
inline TensorExtent extent_of(const c10::TensorImpl& tensor, const TensorPlace& place) {
    if (tensor.key_set().has(c10::DispatchKey::Python) || tensor.has_symbolic_sizes_strides()) {
        return {0, place.storage_bytes};
    }
    const uint64_t element = tensor.itemsize();
    return {static_cast<uint64_t>(tensor.storage_offset()) * element, static_cast<uint64_t>(tensor.numel()) * element};
}

}  // namespace tidemark::plugin
