// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/node_types.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/functions/tensor.h>

#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <typeinfo>
#include <unordered_map>

#include "recorder/torch/reveal.h"

namespace tidemark::plugin {

struct SavedByContext {
    friend constexpr auto member(SavedByContext);
};
template struct Reveal<&torch::autograd::AutogradContext::saved_variables_, SavedByContext>;

namespace {

using Kind = NodeType::Kind;

// The layout of Python's type objects has not changed since Python 3.
constexpr size_t type_in_object = sizeof(void*), name_in_type = 3 * sizeof(void*);

template <class Word>
Word read(const void* object, size_t offset) {
    Word word{};
    std::memcpy(&word, static_cast<const char*>(object) + offset, sizeof word);
    return word;
}

const char* python_class_name(const void* object) {
    return read<const char*>(read<const void*>(object, type_in_object), name_in_type);
}

// Each function of a C++ extension has its own class. All such classes have one layout.
struct AnyFunction : torch::autograd::Function<AnyFunction> {};
using AnyCppNode = torch::autograd::CppNode<AnyFunction>;

Kind kind_of(std::string_view mangled) {
    if (mangled == "N5torch8autograd6PyNodeE") {
        return Kind::python;
    }
    if (mangled == "N5torch8autograd14AccumulateGradE") {
        return Kind::accumulate_grad;
    }
    if (mangled == "N5torch8autograd10CopySlicesE") {
        return Kind::copy_slices;
    }
    return mangled.substr(0, 25) == "N5torch8autograd7CppNodeI" ? Kind::cpp_function : Kind::plain;
}

/// "torch::autograd::CopyBackwards" -> "CopyBackwards".
std::string without_namespaces(const std::string& name) {
    const size_t colons = name.rfind("::", name.find('<'));
    return colons == std::string::npos ? name : name.substr(colons + 2);
}

class Registry {
public:
    const NodeType& find(const void* key, Kind kind, const Node& node) {
        const std::lock_guard lock(mutex_);
        const char* python_name = kind == Kind::python ? static_cast<const char*>(key) : nullptr;
        auto& known = types_[key];
        if (known == nullptr || (python_name != nullptr && known->name != python_name)) {
            known = make(kind, python_name != nullptr ? python_name : node.name());
        }
        return *known;
    }

private:
    const NodeType* make(Kind kind, std::string engine_name) {
        auto* type = new NodeType;  // never destroyed: threads cache pointers to it
        type->number = count_++;
        type->kind = kind;
        type->name = kind == Kind::python ? engine_name : without_namespaces(engine_name);
        type->engine_name = std::move(engine_name);
        switch (kind) {
            case Kind::plain: type->saved = generated_fields(type->name); break;
            case Kind::python:
            case Kind::cpp_function: type->saved = {{"saved", 0, true}}; break;
            default: break;
        }
        return type;
    }

    std::mutex mutex_;
    std::unordered_map<const void*, const NodeType*> types_;
    uint32_t count_ = 0;
};

Registry& registry() {
    static auto* all = new Registry;  // never destroyed: nodes outlive static objects
    return *all;
}

struct CachedType {
    const void* key = nullptr;
    const NodeType* type = nullptr;
};
thread_local std::array<CachedType, 512> cached_types;

void append(const std::vector<SavedVariable>& list, uint32_t field, std::vector<SavedSlot>& out) {
    for (size_t i = 0; i < list.size(); ++i) {
        out.push_back({&list[i], field, static_cast<int32_t>(i)});
    }
}

}  // namespace

const NodeType& type_of(const Node& node) {
    const void* table = read<const void*>(&node, 0);
    CachedType* cached = &cached_types[(reinterpret_cast<uintptr_t>(table) >> 4) % cached_types.size()];
    if (cached->key == table && cached->type->kind != Kind::python) {
        return *cached->type;
    }
    const Kind kind = kind_of(typeid(node).name());
    const void* key = table;
    if (const void* ctx = kind == Kind::python ? ctx_of(&node) : nullptr) {
        key = python_class_name(ctx);
    } else if (kind == Kind::python) {
        key = "Python function";
    }
    *cached = {key, &registry().find(key, kind, node)};
    return *cached->type;
}

void append_saved(const Node& node, const NodeType& type, std::vector<SavedSlot>& out) {
    if (type.kind == Kind::python) {
        const void* ctx = ctx_of(&node);
        if (const auto* list = ctx == nullptr ? nullptr : list_of_python_function(ctx)) {
            append(*list, 0, out);
        }
        return;
    }
    if (type.kind == Kind::cpp_function) {
        append(reinterpret_cast<const AnyCppNode&>(node).ctx_.*member(SavedByContext()), 0, out);
        return;
    }
    const auto* begin = reinterpret_cast<const char*>(&node);
    for (uint32_t field = 0; field < type.saved.size(); ++field) {
        const char* at = begin + type.saved[field].offset;
        if (type.saved[field].is_list) {
            append(*reinterpret_cast<const std::vector<SavedVariable>*>(at), field, out);
        } else {
            out.push_back({reinterpret_cast<const SavedVariable*>(at), field, -1});
        }
    }
}

}  // namespace tidemark::plugin
