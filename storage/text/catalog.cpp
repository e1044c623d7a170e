// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/text/catalog.h"

#include <cstdint>
#include <cstring>

namespace tidemark {
namespace {

// https://www.gnu.org/software/gettext/manual/html_node/MO-Files.html
constexpr uint32_t magic = 0x950412de;
constexpr size_t revision_offset = 4, count_offset = 8, originals_offset = 12, translations_offset = 16;
constexpr size_t entry_size = 8;  ///< length and position of a string

std::optional<uint32_t> number_at(std::string_view bytes, size_t offset) {
    uint32_t number = 0;
    if (offset > bytes.size() || bytes.size() - offset < sizeof number) {
        return std::nullopt;
    }
    std::memcpy(&number, bytes.data() + offset, sizeof number);
    return number;
}

std::optional<std::string_view> string_at(std::string_view bytes, size_t entry) {
    const auto length = number_at(bytes, entry), position = number_at(bytes, entry + 4);
    if (!length || !position || *position > bytes.size() || bytes.size() - *position < *length) {
        return std::nullopt;
    }
    return bytes.substr(*position, *length);
}

}  // namespace

std::optional<Catalog> Catalog::read(std::string_view bytes) {
    const auto revision = number_at(bytes, revision_offset), count = number_at(bytes, count_offset);
    const auto originals = number_at(bytes, originals_offset), translations = number_at(bytes, translations_offset);
    if (number_at(bytes, 0) != magic || revision != 0u || !count || !originals || !translations) {
        return std::nullopt;
    }
    Catalog catalog;
    for (size_t i = 0; i < *count; ++i) {
        const auto message = string_at(bytes, *originals + i * entry_size);
        const auto text = string_at(bytes, *translations + i * entry_size);
        if (!message || !text) {
            return std::nullopt;
        }
        catalog.texts_.emplace(message->substr(0, message->find('\0')), *text);
    }
    return catalog;
}

std::optional<std::string_view> Catalog::find(std::string_view message, size_t form) const {
    const auto found = texts_.find(message);
    if (found == texts_.end() || message.empty()) {
        return std::nullopt;
    }
    std::string_view text = found->second;
    for (; form > 0; --form) {
        const size_t end = text.find('\0');
        if (end == text.npos) {
            return std::nullopt;
        }
        text.remove_prefix(end + 1);
    }
    return text.substr(0, text.find('\0'));
}

std::string_view Catalog::header(std::string_view field) const {
    const auto found = texts_.find({});
    std::string_view rest = found == texts_.end() ? std::string_view() : found->second;
    while (!rest.empty()) {
        const size_t end = rest.find('\n');
        const std::string_view line = rest.substr(0, end);
        if (line.starts_with(field) && line.substr(field.size()).starts_with(": ")) {
            return line.substr(field.size() + 2);
        }
        rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
    return {};
}

}  // namespace tidemark
