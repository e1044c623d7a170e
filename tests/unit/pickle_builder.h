// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Builds pickles byte by byte: single opcodes, or whole values in the layout of Python's pickle module.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "storage/import/pickle_opcodes.h"

namespace tidemark::test {

using Json = nlohmann::ordered_json;

inline testing::AssertionResult contains(std::string_view text, std::string_view part) {
    const bool found = text.find(part) != std::string_view::npos;
    return (found ? testing::AssertionSuccess() : testing::AssertionFailure())
           << '"' << text << "\" against \"" << part << '"';
}

/// Marks an array to be written as a tuple.
inline Json tuple(std::vector<Json> items) { return Json{{"__tuple__", std::move(items)}}; }
/// Marks a value to be written once. Equal marked values are fetched from the memo.
inline Json shared(Json value) { return Json{{"__shared__", std::move(value)}}; }

class PickleBuilder {
public:
    /// Starts a pickle of protocol 2, 3, 4 or 5. Protocol 0 writes no header.
    explicit PickleBuilder(int protocol = 4) : protocol_(protocol) {
        if (protocol > 0) {
            op(opcode::proto).number<uint8_t>(static_cast<uint8_t>(protocol));
        }
    }

    PickleBuilder& op(uint8_t code) { return bytes(std::string_view(reinterpret_cast<const char*>(&code), 1)); }
    PickleBuilder& bytes(std::string_view raw) {
        bytes_ += raw;
        return *this;
    }
    template <class T>
    PickleBuilder& number(T value) {
        char raw[sizeof(T)];
        std::memcpy(raw, &value, sizeof(T));
        return bytes({raw, sizeof(T)});
    }

    PickleBuilder& text(std::string_view text) {
        if (protocol_ >= 4 && text.size() < 256) {
            return op(opcode::short_binunicode).number(static_cast<uint8_t>(text.size())).bytes(text);
        }
        return op(opcode::binunicode).number(static_cast<uint32_t>(text.size())).bytes(text);
    }
    PickleBuilder& integer(int64_t value) {
        if (value >= 0 && value <= UINT8_MAX) {
            return op(opcode::binint1).number(static_cast<uint8_t>(value));
        }
        if (value >= 0 && value <= UINT16_MAX) {
            return op(opcode::binint2).number(static_cast<uint16_t>(value));
        }
        if (value >= INT32_MIN && value <= INT32_MAX) {
            return op(opcode::binint).number(static_cast<int32_t>(value));
        }
        return op(opcode::long1).number(uint8_t{8}).number(value);
    }
    PickleBuilder& address(uint64_t value) {
        return value <= INT64_MAX ? integer(static_cast<int64_t>(value))
                                  : op(opcode::long1).number(uint8_t{9}).number(value).number(uint8_t{0});
    }
    PickleBuilder& real(double value) {
        char raw[sizeof value];
        std::memcpy(raw, &value, sizeof value);
        return op(opcode::binfloat).bytes(std::string(std::rbegin(raw), std::rend(raw)));
    }

    /// Memoizes the value on top of the stack. Returns its memo number.
    uint32_t memoize() {
        if (protocol_ >= 4) {
            op(opcode::memoize);
        } else if (memo_count_ < 256) {
            op(opcode::binput).number(static_cast<uint8_t>(memo_count_));
        } else {
            op(opcode::long_binput).number(memo_count_);
        }
        return memo_count_++;
    }
    PickleBuilder& get(uint32_t index) {
        return index < 256 ? op(opcode::binget).number(static_cast<uint8_t>(index))
                           : op(opcode::long_binget).number(index);
    }

    /// Writes a whole value. Like Python, it memoizes texts and containers and fills containers in batches of 1000.
    PickleBuilder& value(const Json& json) {
        if (json.is_object()) {
            return json.contains("__tuple__")    ? tuple_value(json["__tuple__"])
                   : json.contains("__shared__") ? shared_value(json["__shared__"])
                                                 : dict_value(json);
        }
        if (json.is_array()) {
            return list_value(json);
        }
        if (json.is_string()) {
            return text_value(json.get<std::string>());
        }
        if (json.is_number_float()) {
            return real(json.get<double>());
        }
        if (json.is_number_unsigned()) {
            return address(json.get<uint64_t>());
        }
        if (json.is_number()) {
            return integer(json.get<int64_t>());
        }
        return op(json.is_null() ? opcode::none : json.get<bool>() ? opcode::newtrue : opcode::newfalse);
    }

    /// Returns the bytes so far, followed by STOP.
    std::vector<uint8_t> done() const {
        std::vector<uint8_t> all(bytes_.begin(), bytes_.end());
        all.push_back(opcode::stop);
        return all;
    }

private:
    static constexpr size_t batch = 1000;

    PickleBuilder& text_value(const std::string& content) {
        if (const auto known = texts_.find(content); known != texts_.end()) {
            return get(known->second);
        }
        text(content);
        texts_[content] = memoize();
        return *this;
    }
    PickleBuilder& tuple_value(const Json& items) {
        if (items.size() > 3) {
            op(opcode::mark);
        }
        for (const Json& item : items) {
            value(item);
        }
        constexpr uint8_t codes[]{opcode::empty_tuple, opcode::tuple1, opcode::tuple2, opcode::tuple3, opcode::tuple};
        op(codes[std::min<size_t>(items.size(), 4)]);
        memoize();
        return *this;
    }
    PickleBuilder& shared_value(const Json& json) {
        const std::string key = json.dump();
        if (const auto known = shared_.find(key); known != shared_.end()) {
            return get(known->second);
        }
        const uint32_t next = memo_count_;  // containers are memoized before their content
        value(json);
        shared_[key] = next;
        return *this;
    }
    PickleBuilder& list_value(const Json& items) {
        op(opcode::empty_list);
        memoize();
        for (size_t first = 0; first < items.size(); first += batch) {
            const size_t end = std::min(items.size(), first + batch);
            const bool single = end - first == 1;
            if (!single) {
                op(opcode::mark);
            }
            for (size_t i = first; i < end; ++i) {
                value(items[i]);
            }
            op(single ? opcode::append : opcode::appends);
        }
        return *this;
    }
    PickleBuilder& dict_value(const Json& items) {
        op(opcode::empty_dict);
        memoize();
        if (items.empty()) {
            return *this;
        }
        if (items.size() > 1) {
            op(opcode::mark);
        }
        for (const auto& [key, item] : items.items()) {
            text_value(key);
            value(item);
        }
        return op(items.size() > 1 ? opcode::setitems : opcode::setitem);
    }

    int protocol_;
    std::string bytes_;
    uint32_t memo_count_ = 0;
    std::map<std::string, uint32_t> texts_;
    std::map<std::string, uint32_t> shared_;
};

inline std::vector<uint8_t> pickle_of(const Json& value, int protocol = 4) {
    return PickleBuilder(protocol).value(value).done();
}

}  // namespace tidemark::test
