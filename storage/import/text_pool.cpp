// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/text_pool.h"

#include <cstring>

#include "storage/import/hash_seed.h"

namespace tidemark {
namespace {

constexpr size_t chunk_size = size_t{32} << 10;

uint64_t load(const char* bytes, size_t count) {
    uint64_t word = 0;
    std::memcpy(&word, bytes, count);
    return word;
}

}  // namespace

TextPool::TextPool() : seed_(hash_seed()), slots_(1024) {}

TextId TextPool::intern(std::string_view text) {
    const auto key = static_cast<uint32_t>(hash(text));
    const size_t mask = slots_.size() - 1;
    size_t at = key & mask;
    for (; slots_[at].id != empty_slot; at = (at + 1) & mask) {
        if (slots_[at].hash == key && texts_[slots_[at].id] == text) {
            return slots_[at].id;
        }
    }
    const auto id = static_cast<TextId>(texts_.size());
    slots_[at] = {key, id};
    texts_.push_back(store(text));
    if (texts_.size() * 2 > slots_.size()) {
        grow();
    }
    return id;
}

uint64_t TextPool::hash(std::string_view text) const {
    uint64_t state = seed_ ^ text.size();
    const char* at = text.data();
    size_t left = text.size();
    for (; left > 8; left -= 8, at += 8) {
        state = mix_hash(load(at, 8), state);
    }
    return mix_hash(left ? load(at, left) : 0, state);
}

void TextPool::grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    const size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
        if (slot.id == empty_slot) {
            continue;
        }
        size_t at = slot.hash & mask;
        while (slots_[at].id != empty_slot) {
            at = (at + 1) & mask;
        }
        slots_[at] = slot;
    }
}

std::string_view TextPool::store(std::string_view text) {
    stored_ += text.size();
    if (text.empty()) {
        return {};
    }
    if (text.size() > chunk_size / 4) {
        chunks_.push_back(std::make_unique_for_overwrite<char[]>(text.size()));
        std::memcpy(chunks_.back().get(), text.data(), text.size());
        return {chunks_.back().get(), text.size()};
    }
    if (text.size() > free_size_) {
        chunks_.push_back(std::make_unique_for_overwrite<char[]>(chunk_size));
        free_ = chunks_.back().get();
        free_size_ = chunk_size;
    }
    std::memcpy(free_, text.data(), text.size());
    const std::string_view stored{free_, text.size()};
    free_ += text.size();
    free_size_ -= text.size();
    return stored;
}

}  // namespace tidemark
