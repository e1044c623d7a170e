// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/tables/column.h"

#include <cstring>

#include "storage/base/utf8.h"

namespace tidemark {
namespace {

void set_bit(std::vector<uint8_t>& bits, int64_t i, bool value) {
    if (i % 8 == 0) {
        bits.push_back(0);
    }
    bits.back() |= static_cast<uint8_t>(value ? 1u << (i % 8) : 0u);
}

bool bit_at(const std::vector<uint8_t>& bits, int64_t i) {
    return ((bits[static_cast<size_t>(i / 8)] >> (i % 8)) & 1) != 0;
}

}  // namespace

std::string_view column_type_word(ColumnType type) {
    switch (type) {
        case ColumnType::flag: return "bool";
        case ColumnType::int32: return "int32";
        case ColumnType::int64: return "int64";
        case ColumnType::utc_time: return "timestamp";
        case ColumnType::text:
        case ColumnType::repeated_text: break;
    }
    return "string";
}

void TextList::add(std::string_view text) {
    chars_ += valid_utf8(text);
    offsets_.push_back(static_cast<int64_t>(chars_.size()));
}

std::string_view TextList::at(size_t i) const {
    const auto begin = static_cast<size_t>(offsets_[i]), end = static_cast<size_t>(offsets_[i + 1]);
    return std::string_view(chars_).substr(begin, end - begin);
}

int32_t TextDictionary::number_of(std::string_view text) {
    if (text.empty()) {
        return none;
    }
    const auto [entry, is_new] = numbers_.try_emplace(valid_utf8(text), static_cast<int32_t>(texts_.size()));
    if (is_new) {
        texts_.add(entry->first);
    }
    return entry->second;
}

void Column::number(std::optional<int64_t> value) {
    const int64_t wide = value.value_or(0);
    if (type_ == ColumnType::int32) {
        const auto narrow = static_cast<int32_t>(wide);
        append(&narrow, sizeof narrow);
    } else {
        append(&wide, sizeof wide);
    }
    end_value(value.has_value());
}

void Column::flag(bool value) {
    set_bit(values_, size_, value);
    end_value(true);
}

void Column::text(std::string_view value) {
    if (type_ == ColumnType::repeated_text) {
        text_number(dictionary_->number_of(value));
        return;
    }
    texts_.add(value);
    end_value(!value.empty());
}

void Column::text_number(int32_t number) {
    const bool is_present = number != TextDictionary::none;
    const int32_t stored = is_present ? number : 0;
    append(&stored, sizeof stored);
    end_value(is_present);
}

void Column::append(const void* value, size_t bytes) {
    const size_t end = values_.size();
    values_.resize(end + bytes);
    std::memcpy(values_.data() + end, value, bytes);
}

void Column::end_value(bool is_present) {
    set_bit(present_, size_, is_present);
    ++size_;
    missing_ += is_present ? 0 : 1;
}

bool Column::is_missing(int64_t row) const { return !bit_at(present_, row); }

int64_t Column::number_at(int64_t row) const {
    if (type_ == ColumnType::int64 || type_ == ColumnType::utc_time) {
        int64_t wide = 0;
        std::memcpy(&wide, values_.data() + static_cast<size_t>(row) * sizeof wide, sizeof wide);
        return wide;
    }
    int32_t narrow = 0;
    std::memcpy(&narrow, values_.data() + static_cast<size_t>(row) * sizeof narrow, sizeof narrow);
    return narrow;
}

bool Column::flag_at(int64_t row) const { return bit_at(values_, row); }

std::string_view Column::text_at(int64_t row) const {
    return dictionary_ == nullptr ? texts_.at(static_cast<size_t>(row))
                                  : dictionary_->texts().at(static_cast<size_t>(number_at(row)));
}

}  // namespace tidemark
