// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What a search knows about the types of objects: how far away it considers them, and which are tensors.
#pragma once

#include <array>
#include <span>
#include <unordered_map>
#include <vector>

#include "recorder/heap/heap.h"
#include "recorder/heap/object_layout.h"

namespace tidemark::heap {

/// PyType_IsSubtype.
using IsSubtype = int (*)(void* type, void* base);

struct ObjectKind {
    uint32_t distance = 1;  ///< from an object that refers to it
    size_t reference = 0;   ///< offset of the only reference, if the garbage collector does not know the type
    bool is_tensor = false;
    bool is_noted = false;
    bool is_plain_container = false;
};

/// Not thread-safe. Reads each type once, since a heap has far fewer types than objects.
class ObjectKinds {
public:
    /// `tensor_type`: 0: none.
    ObjectKinds(IsSubtype is_subtype, std::span<const tidemark_heap_type> types, Address tensor_type)
        : is_subtype_(is_subtype), types_(types.begin(), types.end()), tensor_type_(tensor_type) {}

    const ObjectKind& of(Address object) {
        const Address type = read(object, object_type);
        Recent& recent = recent_[(type >> 4) % recent_.size()];
        if (recent.type != type) {
            const auto [entry, is_new] = kinds_.try_emplace(type);
            if (is_new) {
                entry->second = kind_of(type);
            }
            recent = {type, &entry->second};
        }
        return *recent.kind;
    }

private:
    struct Recent {
        Address type = 0;
        const ObjectKind* kind = nullptr;
    };

    bool is_a(Address type, Address base) const {
        return is_subtype_(reinterpret_cast<void*>(type), reinterpret_cast<void*>(base)) != 0;
    }
    ObjectKind kind_of(Address type) const {
        ObjectKind kind;
        kind.is_tensor = tensor_type_ != 0 && is_a(type, tensor_type_);
        kind.is_plain_container = is_plain_container(type);
        for (const tidemark_heap_type& each : types_) {
            if (is_a(type, each.type)) {
                kind.distance = static_cast<uint32_t>(each.distance);
                kind.reference = static_cast<size_t>(each.reference);
                kind.is_noted = each.is_noted != 0;
                break;
            }
        }
        return kind;
    }

    IsSubtype is_subtype_;
    std::vector<tidemark_heap_type> types_;
    Address tensor_type_;
    std::unordered_map<Address, ObjectKind> kinds_;  ///< by type
    std::array<Recent, 256> recent_{};
};

}  // namespace tidemark::heap
