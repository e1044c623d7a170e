// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Records the category and the name of memory as labels of allocations.
#pragma once

#include <cstdint>
#include <string>

#include "recorder/torch/op_memory.h"
#include "recorder/torch/tensor_place.h"

namespace tidemark::plugin {

/// Sends a label. `identity`: identifies the tensor, so that AccumulateGrad nodes find the name of their variable; 0:
/// none.
void report_label(uint8_t category, const DeviceAddress& memory, const std::string& name = {}, uint64_t identity = 0);

/// Returns the tensor in .grad, read from the field without calling the tensor; of a sparse one its values. nullptr:
/// none.
const c10::TensorImpl* gradient_of(c10::TensorImpl& tensor);

/// Labels a parameter, buffer or optimizer state at each later update_labels(). Stores a weak reference to it. Any
/// thread may call.
void label_tensor(uint64_t tensor_impl, uint8_t category, const std::string& name);
/// Sends the labels of tensors whose memory moved since the last call, and of new gradients. Removes destroyed tensors.
/// `with_gradients`: no other thread may replace them meanwhile.
void update_labels(bool with_gradients);
/// The same for parameters alone. Removes nothing.
void update_labels_of_parameters();
/// Removes all labeled tensors, for a new recording.
void forget_labeled_tensors();

}  // namespace tidemark::plugin
