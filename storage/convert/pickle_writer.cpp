// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/convert/pickle_writer.h"

#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

namespace tidemark {
namespace {

/// The names are those of Python's pickletools.
namespace opcode {
constexpr uint8_t proto = 0x80, stop = '.', none = 'N', new_true = 0x88, new_false = 0x89, binint = 'J', binint1 = 'K',
                  binint2 = 'M', long1 = 0x8a, binfloat = 'G', short_binunicode = 0x8c, binunicode = 'X',
                  empty_list = ']', empty_dict = '}', mark = '(', appends = 'e', setitems = 'u', tuple2 = 0x86,
                  memoize = 0x94, binget = 'h', long_binget = 'j';
}  // namespace opcode
constexpr uint8_t protocol = 4;
constexpr size_t most_items = 1000;  ///< that one operation appends, as in Python

}  // namespace

PickleWriter::PickleWriter(const TakeBytes& take) : buffer_(take) {
    byte(opcode::proto);
    byte(protocol);
}

template <class Number>
void PickleWriter::little_endian(Number value) {
    static_assert(std::endian::native == std::endian::little);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    buffer_.text().append(bytes, sizeof value);
}

void PickleWriter::none() { byte(opcode::none); }

void PickleWriter::boolean(bool value) { byte(value ? opcode::new_true : opcode::new_false); }

void PickleWriter::integer(int64_t value) {
    if (value >= 0 && value <= std::numeric_limits<uint8_t>::max()) {
        byte(opcode::binint1);
        little_endian(static_cast<uint8_t>(value));
    } else if (value >= 0 && value <= std::numeric_limits<uint16_t>::max()) {
        byte(opcode::binint2);
        little_endian(static_cast<uint16_t>(value));
    } else if (value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max()) {
        byte(opcode::binint);
        little_endian(static_cast<int32_t>(value));
    } else {
        byte(opcode::long1);
        byte(sizeof value);
        little_endian(value);
    }
}

void PickleWriter::unsigned_integer(uint64_t value) {
    if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        integer(static_cast<int64_t>(value));
        return;
    }
    byte(opcode::long1);
    byte(sizeof value + 1);  // the sign needs a bit
    little_endian(value);
    byte(0);
}

void PickleWriter::real(double value) {
    byte(opcode::binfloat);
    const auto bits = std::bit_cast<uint64_t>(value);
    for (int shift = 56; shift >= 0; shift -= 8) {
        byte(static_cast<uint8_t>(bits >> shift));
    }
}

void PickleWriter::text(std::string_view value) {
    if (value.size() <= std::numeric_limits<uint8_t>::max()) {
        byte(opcode::short_binunicode);
        byte(static_cast<uint8_t>(value.size()));
    } else {
        byte(opcode::binunicode);
        little_endian(static_cast<uint32_t>(value.size()));
    }
    buffer_.text() += value;
    buffer_.pass_on_some();
}

void PickleWriter::word(std::string_view value) {
    const auto [known, is_new] = words_.try_emplace(std::string(value));
    if (is_new) {
        text(value);
        known->second = remember();
    } else {
        recall(known->second);
    }
}

void PickleWriter::pair(int64_t first, int64_t second) {
    integer(first);
    integer(second);
    byte(opcode::tuple2);
}

void PickleWriter::json(const nlohmann::ordered_json& value) {
    switch (value.type()) {
        case nlohmann::ordered_json::value_t::boolean: boolean(value.get<bool>()); return;
        case nlohmann::ordered_json::value_t::number_integer: integer(value.get<int64_t>()); return;
        case nlohmann::ordered_json::value_t::number_unsigned: unsigned_integer(value.get<uint64_t>()); return;
        case nlohmann::ordered_json::value_t::number_float: real(value.get<double>()); return;
        case nlohmann::ordered_json::value_t::string: text(value.get_ref<const std::string&>()); return;
        case nlohmann::ordered_json::value_t::array:
            begin_list();
            for (const nlohmann::ordered_json& item : value) {
                json(item);
            }
            end_list();
            return;
        case nlohmann::ordered_json::value_t::object:
            begin_dict();
            for (const auto& [key, item] : value.items()) {
                text(key);
                json(item);
            }
            end_dict();
            return;
        default: none(); return;
    }
}

void PickleWriter::begin_list() {
    byte(opcode::empty_list);
    byte(opcode::mark);
    items_.push_back(0);
}

void PickleWriter::end_item() {
    if (++items_.back() == most_items) {
        byte(opcode::appends);
        byte(opcode::mark);
        items_.back() = 0;
    }
}

void PickleWriter::end_list() {
    byte(opcode::appends);
    items_.pop_back();
    buffer_.pass_on_some();
}

void PickleWriter::begin_dict() {
    byte(opcode::empty_dict);
    byte(opcode::mark);
}

void PickleWriter::end_dict() {
    byte(opcode::setitems);
    buffer_.pass_on_some();
}

PickleWriter::Memo PickleWriter::remember() {
    byte(opcode::memoize);
    return remembered_++;
}

void PickleWriter::recall(Memo memo) {
    if (memo <= std::numeric_limits<uint8_t>::max()) {
        byte(opcode::binget);
        little_endian(static_cast<uint8_t>(memo));
    } else {
        byte(opcode::long_binget);
        little_endian(memo);
    }
    buffer_.pass_on_some();
}

Status PickleWriter::finish() {
    byte(opcode::stop);
    return buffer_.finish();
}

}  // namespace tidemark
