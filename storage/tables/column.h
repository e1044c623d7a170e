// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Columns of a table in memory, in the layout of Apache Arrow's arrays.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tidemark {

enum class ColumnType : uint8_t {
    flag,           ///< true or false
    int32,          ///< a number
    int64,          ///< a number
    utc_time,       ///< ns since 1970, UTC
    text,           ///< UTF-8
    repeated_text,  ///< UTF-8 that many rows have: stored once
};
/// Returns "bool", "int32", "int64", "timestamp" or "string".
std::string_view column_type_word(ColumnType type);

/// Texts one after another. Bytes that are not UTF-8 become U+FFFD.
class TextList {
public:
    void add(std::string_view text);
    size_t size() const { return offsets_.size() - 1; }
    std::string_view at(size_t i) const;
    const int64_t* offsets() const { return offsets_.data(); }  ///< size() + 1 of them
    const char* chars() const { return chars_.data(); }

private:
    std::vector<int64_t> offsets_{0};
    std::string chars_;
};

/// The texts of a column, each once, by number. The batches of a table share it, and it grows with them.
class TextDictionary {
public:
    static constexpr int32_t none = -1;  ///< of an empty text

    int32_t number_of(std::string_view text);
    /// The same with a key that always has the same text, which make() returns: it is called once per key. Keys are
    /// small numbers.
    template <class Make>
    int32_t number_of(uint32_t key, Make&& make) {
        if (key >= number_of_key_.size()) {
            number_of_key_.resize(key + size_t{1}, unset);
        }
        if (number_of_key_[key] == unset) {
            const int32_t number = number_of(make());
            number_of_key_[key] = number;
        }
        return number_of_key_[key];
    }
    const TextList& texts() const { return texts_; }

private:
    static constexpr int32_t unset = -2;
    TextList texts_;
    std::unordered_map<std::string, int32_t> numbers_;
    std::vector<int32_t> number_of_key_;
};

/// Values of one type, some of which may be missing (null).
class Column {
public:
    /// `dictionary`: of ColumnType::repeated_text, otherwise nullptr.
    Column(ColumnType type, std::shared_ptr<TextDictionary> dictionary)
        : type_(type), dictionary_(std::move(dictionary)) {}

    // Each appends one value. The type of the column must allow it.
    void number(std::optional<int64_t> value);
    void flag(bool value);
    void text(std::string_view value);  ///< empty: missing
    template <class Make>
    void text_of(uint32_t key, Make&& make) {
        text_number(dictionary_->number_of(key, std::forward<Make>(make)));
    }

    ColumnType type() const { return type_; }
    int64_t size() const { return size_; }
    int64_t missing() const { return missing_; }
    bool is_missing(int64_t row) const;

    // The value of a row that is not missing.
    int64_t number_at(int64_t row) const;
    bool flag_at(int64_t row) const;
    std::string_view text_at(int64_t row) const;

    // Arrow's buffers.
    const uint8_t* present_bits() const { return missing_ > 0 ? present_.data() : nullptr; }
    const void* values() const { return values_.data(); }  ///< of text: nullptr; of repeated text, numbers
    const TextList& texts() const { return texts_; }
    const TextDictionary* dictionary() const { return dictionary_.get(); }

private:
    void text_number(int32_t number);
    void append(const void* value, size_t bytes);
    void end_value(bool is_present);

    ColumnType type_;
    std::shared_ptr<TextDictionary> dictionary_;
    int64_t size_ = 0, missing_ = 0;
    std::vector<uint8_t> present_;  ///< a bit per value
    std::vector<uint8_t> values_;
    TextList texts_;
};

}  // namespace tidemark
