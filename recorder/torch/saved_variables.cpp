// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/saved_variables.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/generated/Functions.h>

#include <atomic>
#include <cstring>

#include "recorder/torch/reveal.h"

namespace tidemark::plugin {

struct SavedData {
    friend constexpr auto member(SavedData);
};
struct SavedHooks {
    friend constexpr auto member(SavedHooks);
};
struct SavedVersion {
    friend constexpr auto member(SavedVersion);
};
template struct Reveal<&SavedVariable::data_, SavedData>;
template struct Reveal<&SavedVariable::hooks_, SavedHooks>;
template struct Reveal<&SavedVariable::saved_version_, SavedVersion>;

namespace {

struct GeneratedField {
    const char* node_class;
    const char* name;
    size_t offset;
    bool is_list;
};

namespace generated = torch::autograd::generated;
#define ONE(node_class, field, name) {#node_class, name, offsetof(generated::node_class, field), false},
#define LIST(node_class, field, name) {#node_class, name, offsetof(generated::node_class, field), true},
const GeneratedField fields[] = {
#include "saved_fields.inc"
    {"", "", 0, false}};
#undef ONE
#undef LIST

std::atomic<size_t> ctx_in_node{0}, list_in_ctx{0};

const void* word_at(const void* object, size_t offset) {
    const void* word = nullptr;
    std::memcpy(&word, static_cast<const char*>(object) + offset, sizeof word);
    return word;
}

}  // namespace

const at::Tensor& data_of(const SavedVariable& saved) { return saved.*member(SavedData()); }
bool is_packed(const SavedVariable& saved) { return (saved.*member(SavedHooks())) != nullptr; }
uint32_t version_of(const SavedVariable& saved) { return saved.*member(SavedVersion()); }

std::vector<SavedField> generated_fields(const std::string& node_class) {
    std::vector<SavedField> found;
    for (const GeneratedField& field : fields) {
        if (node_class == field.node_class) {
            found.push_back({field.name, field.offset, field.is_list});
        }
    }
    return found;
}

int learn_python_function(const void* node, const void* ctx, size_t ctx_bytes, const void* first, size_t count) {
    constexpr size_t word = sizeof(void*);
    constexpr size_t longest_scan = 16 * word;
    const auto* end = static_cast<const char*>(first) + count * sizeof(SavedVariable);
    // Since torch 2.15 the pointer is a member of Node; earlier it was a member of PyNode, after Node.
    for (size_t at = word; at < sizeof(torch::autograd::Node) + longest_scan; at += word) {
        if (word_at(node, at) == ctx) {
            ctx_in_node.store(at, std::memory_order_relaxed);
            break;
        }
    }
    for (size_t at = 2 * word; at + 3 * word <= ctx_bytes; at += word) {
        if (word_at(ctx, at) == first && word_at(ctx, at + word) == end && word_at(ctx, at + 2 * word) >= end) {
            list_in_ctx.store(at, std::memory_order_relaxed);
            break;
        }
    }
    return ctx_in_node.load() != 0 && list_in_ctx.load() != 0;
}

const void* ctx_of(const void* node) {
    const size_t offset = ctx_in_node.load(std::memory_order_relaxed);
    return offset == 0 ? nullptr : word_at(node, offset);
}

const std::vector<SavedVariable>* list_of_python_function(const void* ctx) {
    const size_t offset = list_in_ctx.load(std::memory_order_relaxed);
    return offset == 0 ? nullptr
                       : reinterpret_cast<const std::vector<SavedVariable>*>(static_cast<const char*>(ctx) + offset);
}

}  // namespace tidemark::plugin
