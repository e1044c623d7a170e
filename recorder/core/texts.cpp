// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/core/texts.h"

#include <functional>

namespace tidemark::recorder {

size_t Texts::slot_of(std::string_view text) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = std::hash<std::string_view>{}(text)&mask;
    while (slots_[slot] != 0 && texts_[slots_[slot] - 1] != text) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

uint32_t Texts::find(std::string_view text) const { return slots_.empty() ? 0 : slots_[slot_of(text)]; }

void Texts::add(std::string_view text) {
    if ((texts_.size() + 1) * 2 > slots_.size()) {
        grow();
    }
    const size_t slot = slot_of(text);
    texts_.emplace_back(text);
    slots_[slot] = static_cast<uint32_t>(texts_.size());
}

void Texts::grow() {
    slots_.assign(slots_.empty() ? 256 : slots_.size() * 2, 0);
    for (uint32_t number = 1; number <= texts_.size(); ++number) {
        slots_[slot_of(texts_[number - 1])] = number;
    }
}

}  // namespace tidemark::recorder
