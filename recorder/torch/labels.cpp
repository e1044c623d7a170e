// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/labels.h"

#include <ATen/SparseTensorImpl.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "recorder/torch/allocator_tracker.h"
#include "recorder/torch/thread_state.h"

namespace tidemark::plugin {

namespace {

struct LabeledTensor {
    WeakTensor tensor;
    uint8_t category;
    std::string name;
    DeviceAddress reported{};
};

struct LabeledTensors {
    std::mutex mutex;
    std::vector<LabeledTensor> all;
};
LabeledTensors& labeled_tensors() {
    static auto* tensors = new LabeledTensors;  // other threads may still use it while the process exits
    return *tensors;
}

void report_if_moved(const c10::TensorImpl& tensor, LabeledTensor& labeled) {
    const TensorPlace place = place_of(tensor);
    const DeviceAddress now{place.address, place.device};
    if (!(now == labeled.reported)) {
        labeled.reported = now;
        report_label(labeled.category, now, labeled.name, reinterpret_cast<uintptr_t>(&tensor));
    }
}

bool is_sparse(const c10::TensorImpl& tensor) {
    return tensor.key_set().has(c10::DispatchKey::SparseCUDA) || tensor.key_set().has(c10::DispatchKey::SparseCPU);
}

/// Returns the values of a sparse tensor, which exist as long as it does.
const c10::TensorImpl* values_of(const c10::TensorImpl& sparse) {
    return static_cast<const at::SparseTensorImpl&>(sparse).values().unsafeGetTensorImpl();
}

/// Always sends the label, because a new gradient often gets the address of the previous one.
void report_gradient(const c10::TensorImpl& tensor, const LabeledTensor& labeled) {
    const TensorPlace place = place_of(tensor);
    report_label(TIDEMARK_CATEGORY_GRADIENT, {place.address, place.device}, labeled.name);
}

}  // namespace

const c10::TensorImpl* gradient_of(c10::TensorImpl& tensor) {
    const auto* meta = static_cast<const torch::autograd::AutogradMeta*>(tensor.autograd_meta());
    const c10::TensorImpl* gradient =
        meta != nullptr && meta->grad_.defined() ? meta->grad_.unsafeGetTensorImpl() : nullptr;
    return gradient != nullptr && is_sparse(*gradient) ? values_of(*gradient) : gradient;
}

void report_label(uint8_t category, const DeviceAddress& memory, const std::string& name, uint64_t identity) {
    tidemark_ring* ring = ThreadState::here().ring();
    if (ring == nullptr || (memory.device == TIDEMARK_NO_DEVICE && identity == 0)) {
        return;
    }
    tidemark_record record{};
    record.kind = TIDEMARK_LABEL;
    record.detail = category;
    record.label.device = memory.device;
    record.label.identity = identity;
    record.label.name = name.empty() ? 0 : core()->text(ring, name.data(), name.size());
    if (memory.device != TIDEMARK_NO_DEVICE) {
        record.label.address = memory.address;
        record.label.sequence = events_so_far(memory.device);
    }
    core()->push(ring, &record, nullptr, 0);
}

void label_tensor(uint64_t tensor_impl, uint8_t category, const std::string& name) {
    auto* tensor = reinterpret_cast<c10::TensorImpl*>(static_cast<uintptr_t>(tensor_impl));
    const std::lock_guard lock(labeled_tensors().mutex);
    labeled_tensors().all.push_back({WeakTensor(StrongTensor::reclaim_copy(tensor)), category, name, {}});
}

void update_labels() {
    const std::lock_guard lock(labeled_tensors().mutex);
    const auto update_and_check_destroyed = [](LabeledTensor& each) {
        const StrongTensor tensor = each.tensor.lock();
        if (!tensor) {
            return true;
        }
        report_if_moved(*tensor, each);
        if (const c10::TensorImpl* gradient = gradient_of(*tensor)) {
            report_gradient(*gradient, each);
        }
        return false;
    };
    auto& all = labeled_tensors().all;
    all.erase(std::remove_if(all.begin(), all.end(), update_and_check_destroyed), all.end());
}

void forget_labeled_tensors() {
    const std::lock_guard lock(labeled_tensors().mutex);
    labeled_tensors().all.clear();
}

}  // namespace tidemark::plugin
