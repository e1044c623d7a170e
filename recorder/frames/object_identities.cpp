// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/frames/object_identities.h"

#include <dlfcn.h>

namespace tidemark::frames {

namespace {

using Deallocate = void (*)(void*);

/// PyTypeObject: PyVarObject (24), tp_name, tp_basicsize, tp_itemsize, tp_dealloc. The same in Python 3.8 to 3.14.
constexpr size_t deallocate_offset = 48;

ObjectIdentities* watcher = nullptr;
Deallocate deallocate_code = nullptr;

/// Runs with the interpreter lock.
void code_destroyed(void* code) {
    if (watcher->is_watched(reinterpret_cast<uint64_t>(code))) {
        watcher->start_generation();
    }
    deallocate_code(code);
}

}  // namespace

void ObjectIdentities::watch_code_objects() {
    auto* type = static_cast<char*>(dlsym(RTLD_DEFAULT, "PyCode_Type"));
    if (watcher != nullptr || type == nullptr) {
        return;
    }
    watcher = this;
    auto* slot = reinterpret_cast<Deallocate*>(type + deallocate_offset);
    deallocate_code = *slot;
    *slot = code_destroyed;
}

}  // namespace tidemark::frames
