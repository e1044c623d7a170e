// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Writes a pickle of protocol 4: the part of it that Python's C++ writers use and PyTorch's memory page reads.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/convert/take_bytes.h"

namespace tidemark {

/// Writes one value, which may contain others. An object that occurs more than once is written once: remember() it, and
/// recall() it later.
class PickleWriter {
public:
    explicit PickleWriter(const TakeBytes& take);

    void none();
    void boolean(bool value);
    void integer(int64_t value);
    void unsigned_integer(uint64_t value);
    void real(double value);
    /// Writes a text that occurs once.
    void text(std::string_view value);
    /// Writes a text that occurs often, such as a key.
    void word(std::string_view value);
    void pair(int64_t first, int64_t second);
    /// Writes a JSON value: null, a flag, a number, a text, a list or an object. Requires that it is not nested deeply.
    void json(const nlohmann::ordered_json& value);

    /// Begins a list or a dict. Its items follow: of a dict, a key and a value in turns.
    void begin_list();
    /// Call it after each item of a list that may be long. PyTorch's page fails on more than some 100,000 items that
    /// one operation appends.
    void end_item();
    void end_list();
    void begin_dict();
    void end_dict();

    using Memo = uint32_t;
    /// Remembers the value that was just written.
    Memo remember();
    void recall(Memo memo);

    /// Ends the pickle. Returns the error of the receiver.
    Status finish();

private:
    void byte(uint8_t value) { buffer_.text().push_back(static_cast<char>(value)); }
    template <class Number>
    void little_endian(Number value);

    ByteBuffer buffer_;
    Memo remembered_ = 0;
    std::vector<size_t> items_;  ///< of the open lists, since the last operation that appended
    std::unordered_map<std::string, Memo> words_;
};

}  // namespace tidemark
