// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/heap/layout_check.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace tidemark::heap {

namespace {

/// Returns the word at the address; nothing if the address is not mapped.
std::optional<uint64_t> word(Address address, size_t offset) {
    uint64_t value = 0;
    const iovec local{&value, sizeof value};
    const iovec remote{reinterpret_cast<void*>(address + offset), sizeof value};
    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != sizeof value) {
        return std::nullopt;
    }
    return value;
}

/// Returns whether the list, its type and its items have the expected layout.
bool list_is_readable(const tidemark_heap_known& known) {
    const auto items = word(known.list, list_items);
    if (word(known.list, object_type) != known.list_type || word(known.list, container_size) != known.item_count ||
        !items) {
        return false;
    }
    for (uint64_t i = 0; i < known.item_count; ++i) {
        if (word(*items, i * sizeof(Address)) != known.items[i]) {
            return false;
        }
    }
    const auto flags = word(known.list_type, type_flags);
    return flags && (*flags & flag_tracked) != 0 && word(known.list_type, type_traverse).value_or(0) != 0;
}

int remember(void* object, void* seen) {
    static_cast<std::vector<Address>*>(seen)->push_back(reinterpret_cast<Address>(object));
    return 0;
}

bool list_reports_its_items(const tidemark_heap_known& known) {
    std::vector<Address> seen, expected(known.items, known.items + known.item_count);
    for_each_child(known.list, remember, &seen);
    std::sort(seen.begin(), seen.end());
    std::sort(expected.begin(), expected.end());
    return seen == expected;
}

}  // namespace

bool objects_are_as_known(const tidemark_heap_known& known) {
    // `list` is a static type, which must not be traversed. The other one is a class defined in Python.
    return list_is_readable(known) && list_reports_its_items(known) && is_tracked(known.list) &&
           !is_tracked(known.list_type) && is_tracked(known.some_class);
}

bool frames_are_as_known(const FrameLayout& layout, const tidemark_heap_known& known) {
    const auto values = layout.is_separate ? word(known.frame, frame_interpreter_frame) : known.frame;
    for (uint64_t i = 0; values && i < known.variable_count; ++i) {
        const auto value = word(*values + layout.variables, i * sizeof(Address));
        if (!value || (layout.tagged ? *value & ~uint64_t{3} : *value) != known.variables[i]) {
            return false;
        }
    }
    return values.has_value();
}

}  // namespace tidemark::heap
