// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/labels.h"

#include <ATen/SparseTensorImpl.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>
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
    WeakTensor gradient{StrongTensor()};  ///< whose label was sent
    uint64_t gradient_address = 0;
};

struct LabeledTensors {
    std::mutex mutex;
    std::vector<LabeledTensor> all;
    std::unordered_map<const c10::TensorImpl*, size_t> positions;  ///< in `all`, whose weak references hold the keys

    void set_positions() {
        positions.clear();
        for (size_t i = 0; i < all.size(); ++i) {
            positions.emplace(all[i].tensor._unsafe_get_target(), i);
        }
    }
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

/// Sends the label of a gradient once. A new gradient often gets the memory of the previous one, but its TensorImpl
/// lies elsewhere: the weak reference keeps that of the previous one, without its memory.
void report_new_gradient(const c10::TensorImpl& tensor, LabeledTensor& labeled) {
    const TensorPlace place = place_of(tensor);
    const bool is_known = labeled.gradient._unsafe_get_target() == &tensor && labeled.gradient_address == place.address;
    if (place.device != TIDEMARK_NO_DEVICE && !is_known) {
        labeled.gradient = WeakTensor(StrongTensor::reclaim_copy(const_cast<c10::TensorImpl*>(&tensor)));
        labeled.gradient_address = place.address;
        report_label(TIDEMARK_CATEGORY_GRADIENT, {place.address, place.device}, labeled.name);
    }
}

/// Sends what changed. Returns false if the tensor was destroyed.
bool update(LabeledTensor& labeled, bool with_gradient) {
    const StrongTensor tensor = labeled.tensor.lock();
    if (!tensor) {
        return false;
    }
    report_if_moved(*tensor, labeled);
    if (const c10::TensorImpl* gradient = with_gradient ? gradient_of(*tensor) : nullptr) {
        report_new_gradient(*gradient, labeled);
    }
    return true;
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
    LabeledTensors& labeled = labeled_tensors();
    const std::lock_guard lock(labeled.mutex);
    const auto [position, is_new] = labeled.positions.try_emplace(tensor, labeled.all.size());
    LabeledTensor label{WeakTensor(StrongTensor::reclaim_copy(tensor)), category, name};
    if (is_new) {
        labeled.all.push_back(std::move(label));
    } else {
        labeled.all[position->second] = std::move(label);
    }
}

void update_labels(bool with_gradients) {
    LabeledTensors& labeled = labeled_tensors();
    const std::lock_guard lock(labeled.mutex);
    const auto is_dropped = [&](LabeledTensor& each) { return !update(each, with_gradients); };
    const auto dropped = std::remove_if(labeled.all.begin(), labeled.all.end(), is_dropped);
    if (dropped != labeled.all.end()) {
        labeled.all.erase(dropped, labeled.all.end());
        labeled.set_positions();
    }
}

void update_labels_of_parameters() {
    const std::lock_guard lock(labeled_tensors().mutex);
    for (LabeledTensor& each : labeled_tensors().all) {
        if (each.category == TIDEMARK_CATEGORY_PARAMETER) {
            update(each, true);
        }
    }
}

void forget_labeled_tensors() {
    const std::lock_guard lock(labeled_tensors().mutex);
    labeled_tensors().all.clear();
    labeled_tensors().positions.clear();
}

}  // namespace tidemark::plugin
