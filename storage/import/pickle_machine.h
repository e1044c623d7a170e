// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A pickle virtual machine that executes no code. It builds data through a consumer and rejects, by name, every opcode
// that imports, calls or fetches something.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/import/byte_source.h"
#include "storage/import/chunked_array.h"
#include "storage/import/text_pool.h"

namespace tidemark {

enum class PickleKind : uint8_t {
    none,
    boolean,
    integer,         ///< fits int64
    large_unsigned,  ///< fits only uint64
    real,
    text,
    bytes,   ///< the content is not stored
    object,  ///< a container of the consumer
};

struct PickleValue {
    PickleKind kind = PickleKind::none;
    union {
        int64_t integer = 0;  ///< also for boolean: 0 or 1
        uint64_t large_unsigned;
        double real;
        TextId text;
        uint32_t object;
    };

    static PickleValue of(PickleKind kind, int64_t integer = 0) {
        PickleValue value;
        value.kind = kind;
        value.integer = integer;
        return value;
    }
    static PickleValue of_unsigned(uint64_t number) {
        const bool large = number > INT64_MAX;
        return of(large ? PickleKind::large_unsigned : PickleKind::integer, static_cast<int64_t>(number));
    }
    static PickleValue of_real(double number) { return of(PickleKind::real, std::bit_cast<int64_t>(number)); }
    static PickleValue of_text(TextId id) { return of(PickleKind::text, id); }
    static PickleValue of_object(uint32_t id) { return of(PickleKind::object, id); }
};

/// Owns the containers. The machine refers to them by number, copies the numbers to its stack and its memo, and may
/// pass on a container before it is filled. Spans are valid only during the call. The machine adds the byte position to
/// an error.
class PickleConsumer {
public:
    virtual ~PickleConsumer() = default;
    virtual Result<PickleValue> make_dict() = 0;
    virtual Result<PickleValue> make_list() = 0;
    virtual Result<PickleValue> make_tuple(std::span<const PickleValue> items) = 0;
    /// `items`: key, value, key, value, ... `dict` may be any value.
    virtual Status set_items(PickleValue dict, std::span<const PickleValue> items) = 0;
    /// `list` may be any value. Sets are treated as lists.
    virtual Status append(PickleValue list, std::span<const PickleValue> items) = 0;
    /// Returns about how many bytes of memory the containers, and what will be made of them, take.
    virtual uint64_t memory() const { return 0; }
};

/// Runs one pickle of protocol 0 to 5. Counts and lengths in the file allocate no more memory than the bytes that
/// follow justify. References to earlier values, and compression, may multiply what the bytes say: a file that needs
/// more than 128 MiB, and more than 36 bytes of memory for each byte of the file read so far, is rejected.
class PickleMachine {
public:
    /// Requires that all arguments outlive the machine. `phase` names the operation for `progress`, which counts bytes
    /// of the file.
    PickleMachine(ByteSource& source, TextPool& texts, PickleConsumer& consumer, Progress& progress, const char* phase);

    /// Returns the value on top of the stack at STOP. Reads nothing after STOP.
    Result<PickleValue> run();
    int protocol() const { return protocol_; }

private:
    // Steps return false after error_ was set.
    bool step(uint8_t code);
    bool step_text(uint8_t code);
    bool step_rare(uint8_t code);
    bool refuse(uint8_t code);
    bool refuse_global(uint8_t code);
    bool set_protocol();

    bool need(size_t count) { return static_cast<size_t>(end_ - at_) >= count || refill(count); }
    bool refill(size_t count);
    template <class T>
    bool take(T& number);
    bool take_line(std::string_view& line);
    bool skip(uint64_t count);
    void report();
    uint64_t memory() const;
    uint64_t position() const { return window_start_ + static_cast<uint64_t>(at_ - source_.data()); }

    bool push(PickleValue value);
    template <class T>
    bool push_number();
    template <class Length>
    bool push_text();
    template <class Length>
    bool push_bytes();
    bool push_real();
    template <class Length>
    bool push_long();
    bool push_number_text(uint8_t code);
    bool push_string_text(uint8_t code);
    bool push_object(Result<PickleValue> object);

    bool push_mark();
    bool pop();
    bool pop_to_mark();
    bool append_one();
    bool append_to_mark();
    bool set_one();
    bool set_to_mark();
    bool tuple_of(size_t count);
    bool tuple_to_mark();
    bool list_to_mark();
    bool dict_to_mark();
    size_t since_mark() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }
    bool require(size_t count) { return since_mark() >= count || lacks_values(); }
    bool require_mark(size_t below);
    void drop_to_mark() { stack_.resize(marks_.back()), marks_.pop_back(); }
    std::span<const PickleValue> marked() const { return std::span(stack_).subspan(marks_.back()); }

    bool put(uint64_t index);
    bool get(uint64_t index);
    PickleValue unbox(uint64_t packed) const;
    template <class T>
    bool put_at();
    template <class T>
    bool get_at();
    bool memo_at_text(uint8_t code);

    bool check(Status status);
    bool fail(Sentence sentence);
    bool lacks_values();
    bool lacks_memo(uint64_t index);
    bool stack_is_full();
    bool ends_early();

    ByteSource& source_;
    TextPool& texts_;
    PickleConsumer& consumer_;
    Progress& progress_;
    const char* phase_;
    double reported_ = 0;

    const uint8_t* at_ = nullptr;  ///< points into the source's window
    const uint8_t* end_ = nullptr;
    uint64_t window_start_ = 0;   ///< stream position of the window's first byte
    uint64_t code_position_ = 0;  ///< stream position and code of the current opcode, for error messages
    uint8_t code_ = 0;
    int protocol_ = 0;

    std::vector<PickleValue> stack_;
    std::vector<size_t> marks_;  ///< stack sizes
    ChunkedArray<uint64_t, 65536> memo_;
    size_t memo_count_ = 0;
    uint64_t containers_ = 0;
    std::vector<PickleValue> boxed_;  ///< memo entries that do not fit into 8 bytes
    std::optional<Error> error_;
};

}  // namespace tidemark
