// Says what memory is to the program: told about the allocation that holds it now.
#pragma once

#include <cstdint>
#include <string>

#include "recorder/torch/op_memory.h"
#include "recorder/torch/tensor_place.h"

namespace tidemark::plugin {

/// `identity`: of the tensor, through which AccumulateGrad nodes find their variable's name; 0: none.
void report_label(uint8_t category, const DeviceAddress& memory, const std::string& name = {}, uint64_t identity = 0);

/// What lies in a tensor's .grad, without asking the tensor; nullptr: nothing.
const c10::TensorImpl* gradient_of(c10::TensorImpl& tensor);

/// Parameters, buffers and optimizer state that the package has named, kept by weak references. Any thread.
void watch_tensor(uint64_t tensor_impl, uint8_t category, const std::string& name);
/// Tells those whose memory is another than at the last look, and where their gradients lie; forgets those that are gone.
void look_at_watched_tensors();
/// A new recording is told everything again.
void forget_watched_tensors();

}  // namespace tidemark::plugin
