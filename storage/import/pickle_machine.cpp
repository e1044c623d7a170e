// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/pickle_machine.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "storage/base/units.h"
#include "storage/import/pickle_opcodes.h"
#include "storage/import/pickle_text.h"

namespace tidemark {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in the file");

constexpr size_t text_limit = size_t{16} << 20;
constexpr size_t stack_limit = size_t{64} << 20;
constexpr size_t sparse_memo_limit = 65'536;

/// Limits of memory, in bytes. Real snapshots take up to 25 bytes per byte of a file compressed by xz; forged files
/// take thousands.
constexpr uint64_t memory_at_least = uint64_t{128} << 20;
constexpr uint64_t memory_per_byte = 36;

/// Layout of a memo entry in 8 bytes: the kind in the top byte; below it the number, the id, or an index into boxed_.
constexpr int packed_bits = 56;
constexpr uint64_t packed_mask = (uint64_t{1} << packed_bits) - 1;
constexpr uint64_t boxed_kind = 0x80;
constexpr uint64_t never_put = UINT64_MAX;

bool fits_packed(PickleValue value) {
    constexpr int64_t limit = int64_t{1} << (packed_bits - 1);
    const bool small = value.integer >= -limit && value.integer < limit;
    return value.kind != PickleKind::large_unsigned && value.kind != PickleKind::real && small;
}

uint64_t pack(PickleValue value) {
    return (static_cast<uint64_t>(value.kind) << packed_bits) | (static_cast<uint64_t>(value.integer) & packed_mask);
}

PickleValue unpack(uint64_t packed) {
    constexpr int shift = 64 - packed_bits;
    return PickleValue::of(static_cast<PickleKind>(packed >> packed_bits),
                           static_cast<int64_t>(packed << shift) >> shift);
}

}  // namespace

PickleMachine::PickleMachine(ByteSource& source, TextPool& texts, PickleConsumer& consumer, Progress& progress,
                             const char* phase)
    : source_(source), texts_(texts), consumer_(consumer), progress_(progress), phase_(phase) {
    at_ = source_.data();
    end_ = at_ + source_.available();
    window_start_ = source_.position();
}

Result<PickleValue> PickleMachine::run() {
    while (need(1)) {
        code_position_ = position();
        code_ = *at_++;
        if (code_ == opcode::stop) {
            if (!require(1)) {
                break;
            }
            source_.consume(static_cast<size_t>(at_ - source_.data()));
            return stack_.back();
        }
        if (!step(code_)) {
            break;
        }
    }
    return std::move(*error_);
}

// Called for most opcodes of the file, so it is inlined into `step`.

inline bool PickleMachine::push(PickleValue value) {
    if (stack_.size() == stack_limit) [[unlikely]] {
        return stack_is_full();
    }
    stack_.push_back(value);
    return true;
}

inline bool PickleMachine::get(uint64_t index) {
    const uint64_t packed = index < memo_.size() ? memo_[index] : never_put;
    if (packed == never_put) [[unlikely]] {
        return lacks_memo(index);
    }
    return push(packed >> packed_bits == boxed_kind ? unbox(packed) : unpack(packed));
}

/// Executes the opcodes that most of a snapshot consists of.
bool PickleMachine::step(uint8_t code) {
    switch (code) {
        case opcode::long_binget: return get_at<uint32_t>();
        case opcode::binget: return get_at<uint8_t>();
        case opcode::memoize: return put(memo_count_);
        case opcode::binput: return put_at<uint8_t>();
        case opcode::long_binput: return put_at<uint32_t>();
        case opcode::mark: return push_mark();
        case opcode::long1: return push_long<uint8_t>();
        case opcode::binint1: return push_number<uint8_t>();
        case opcode::binint2: return push_number<uint16_t>();
        case opcode::binint: return push_number<int32_t>();
        case opcode::short_binunicode: return push_text<uint8_t>();
        case opcode::binunicode: return push_text<uint32_t>();
        case opcode::empty_dict: return push_object(consumer_.make_dict());
        case opcode::empty_list: return push_object(consumer_.make_list());
        case opcode::setitem: return set_one();
        case opcode::setitems: return set_to_mark();
        case opcode::append: return append_one();
        case opcode::appends: return append_to_mark();
        case opcode::tuple2: return tuple_of(2);
        case opcode::none: return push(PickleValue{});
        case opcode::newtrue: return push(PickleValue::of(PickleKind::boolean, 1));
        case opcode::newfalse: return push(PickleValue::of(PickleKind::boolean, 0));
        case opcode::frame: return need(8) && (at_ += 8);
        default: return step_rare(code);
    }
}

/// Executes other opcodes with data.
bool PickleMachine::step_rare(uint8_t code) {
    switch (code) {
        case opcode::proto: return set_protocol();
        case opcode::binfloat: return push_real();
        case opcode::long4: return push_long<uint32_t>();
        case opcode::binunicode8: return push_text<uint64_t>();
        case opcode::short_binstring: return push_text<uint8_t>();
        case opcode::binstring: return push_text<uint32_t>();
        case opcode::short_binbytes: return push_bytes<uint8_t>();
        case opcode::binbytes: return push_bytes<uint32_t>();
        case opcode::binbytes8:
        case opcode::bytearray8: return push_bytes<uint64_t>();
        case opcode::empty_tuple: return tuple_of(0);
        case opcode::tuple1: return tuple_of(1);
        case opcode::tuple3: return tuple_of(3);
        case opcode::tuple:
        case opcode::frozenset: return tuple_to_mark();
        case opcode::empty_set: return push_object(consumer_.make_list());
        case opcode::additems: return append_to_mark();
        case opcode::list: return list_to_mark();
        case opcode::dict: return dict_to_mark();
        case opcode::pop: return pop();
        case opcode::pop_mark: return pop_to_mark();
        case opcode::dup: return require(1) && push(stack_.back());
        default: return step_text(code);
    }
}

/// Executes the opcodes of protocol 0, which writes numbers and strings as lines of text.
bool PickleMachine::step_text(uint8_t code) {
    switch (code) {
        case opcode::int_text:
        case opcode::long_text:
        case opcode::float_text: return push_number_text(code);
        case opcode::string_text:
        case opcode::unicode_text: return push_string_text(code);
        case opcode::put:
        case opcode::get: return memo_at_text(code);
        default: return refuse(code);
    }
}

bool PickleMachine::set_protocol() {
    uint8_t version = 0;
    if (!take(version)) {
        return false;
    }
    if (version > opcode::newest_protocol) {
        return fail(Sentence("The file is a pickle of protocol {version}; Tidemark reads protocols 0 to {newest}.",
                             with("version", version), with("newest", opcode::newest_protocol)));
    }
    protocol_ = version;
    return true;
}

// Reading bytes.

bool PickleMachine::refill(size_t count) {
    source_.consume(static_cast<size_t>(at_ - source_.data()));
    const Status status = source_.ensure(count);
    at_ = source_.data();
    end_ = at_ + source_.available();
    window_start_ = source_.position();
    if (!status) {
        error_ = status.error();
        return false;
    }
    report();
    if (const uint64_t needed = memory();
        needed > std::max(memory_at_least, memory_per_byte * source_.file_position())) {
        return fail(
            Sentence("The file unpacks to far more than a snapshot of its size can hold ({containers} containers, "
                     "{memory}, from {bytes} bytes).",
                     with("containers", containers_), with("memory", format_bytes(static_cast<int64_t>(needed))),
                     with("bytes", source_.file_position())));
    }
    return source_.available() >= count || ends_early();
}

uint64_t PickleMachine::memory() const {
    return 2 * stack_.size() * sizeof(PickleValue) + memo_.size() * sizeof(uint64_t) +
           boxed_.size() * sizeof(PickleValue) + texts_.memory() + consumer_.memory();
}

void PickleMachine::report() {
    const auto size = static_cast<double>(source_.file_size());
    const double fraction = size > 0 ? std::min(1.0, static_cast<double>(source_.file_position()) / size) : 0;
    if (fraction >= reported_ + 0.01) {
        reported_ = fraction;
        progress_.report(phase_, fraction);
    }
}

template <class T>
bool PickleMachine::take(T& number) {
    if (!need(sizeof(T))) {
        return false;
    }
    std::memcpy(&number, at_, sizeof(T));
    at_ += sizeof(T);
    return true;
}

/// Reads a line. It is valid until the next read.
bool PickleMachine::take_line(std::string_view& line) {
    size_t seen = 0;
    const void* newline = nullptr;
    while (!(newline = std::memchr(at_ + seen, '\n', static_cast<size_t>(end_ - at_) - seen))) {
        seen = static_cast<size_t>(end_ - at_);
        if (seen > text_limit) {
            return fail(Sentence("The file is damaged: the text line at byte {byte} does not end.",
                                 with("byte", code_position_)));
        }
        if (!refill(seen + 1)) {
            return false;
        }
    }
    const auto* end = static_cast<const uint8_t*>(newline);
    line = {reinterpret_cast<const char*>(at_), static_cast<size_t>(end - at_)};
    at_ = end + 1;
    return true;
}

bool PickleMachine::skip(uint64_t count) {
    while (count > 0) {
        if (!need(1)) {
            return false;
        }
        const uint64_t part = std::min<uint64_t>(count, static_cast<uint64_t>(end_ - at_));
        at_ += part;
        count -= part;
    }
    return true;
}

// Pushing values.

bool PickleMachine::stack_is_full() {
    return fail(Sentence("The file is damaged: more than {limit} values are on the stack at byte {byte}.",
                         with("limit", stack_limit), with("byte", code_position_)));
}

template <class T>
bool PickleMachine::push_number() {
    T number{};
    return take(number) && push(PickleValue::of(PickleKind::integer, number));
}

template <class Length>
bool PickleMachine::push_text() {
    Length length{};
    if (!take(length)) {
        return false;
    }
    if (length > text_limit) {
        return fail(Sentence("The file is damaged: a text of {length} bytes at byte {byte}.", with("length", length),
                             with("byte", code_position_)));
    }
    if (!need(length)) {
        return false;
    }
    const TextId id = texts_.intern({reinterpret_cast<const char*>(at_), static_cast<size_t>(length)});
    at_ += length;
    return push(PickleValue::of_text(id));
}

template <class Length>
bool PickleMachine::push_bytes() {
    Length length{};
    return take(length) && skip(length) && push(PickleValue::of(PickleKind::bytes));
}

bool PickleMachine::push_real() {
    uint64_t bits = 0;
    if (!take(bits)) {
        return false;
    }
    uint64_t swapped = 0;
    for (int i = 0; i < 8; ++i) {
        swapped = (swapped << 8) | ((bits >> (8 * i)) & 0xff);
    }
    return push(PickleValue::of_real(std::bit_cast<double>(swapped)));
}

/// Pushes a little-endian two's complement number. One that does not fit 64 bits is no address, size or time; its value
/// is not stored.
template <class Length>
bool PickleMachine::push_long() {
    Length length{};
    if (!take(length)) {
        return false;
    }
    if (length > 9) {
        return skip(length) && push(PickleValue::of(PickleKind::bytes));
    }
    if (!need(length)) {
        return false;
    }
    uint64_t number = 0;
    std::memcpy(&number, at_, std::min<size_t>(length, 8));
    const uint8_t top = length > 8 ? at_[8] : 0;
    at_ += length;
    if (length > 8) {
        return push(top == 0 ? PickleValue::of_unsigned(number) : PickleValue::of(PickleKind::bytes));
    }
    const int unused = 64 - 8 * static_cast<int>(length);
    const int64_t extended = length == 0 ? 0 : static_cast<int64_t>(number << unused) >> unused;
    return push(PickleValue::of(PickleKind::integer, extended));
}

bool PickleMachine::push_number_text(uint8_t code) {
    std::string_view line;
    if (!take_line(line)) {
        return false;
    }
    if (code == opcode::int_text && (line == "00" || line == "01")) {
        return push(PickleValue::of(PickleKind::boolean, line == "01"));
    }
    if (code == opcode::long_text && line.ends_with('L')) {
        line.remove_suffix(1);
    }
    const char* end = line.data() + line.size();
    const auto whole = [end](std::from_chars_result result) { return result.ec == std::errc{} && result.ptr == end; };
    int64_t number = 0;
    uint64_t large = 0;
    double real = 0;
    if (code == opcode::float_text) {
        if (whole(std::from_chars(line.data(), end, real))) {
            return push(PickleValue::of_real(real));
        }
    } else if (whole(std::from_chars(line.data(), end, number))) {
        return push(PickleValue::of(PickleKind::integer, number));
    } else if (whole(std::from_chars(line.data(), end, large))) {
        return push(PickleValue::of_unsigned(large));
    }
    return fail(Sentence("The file is damaged: \"{text}\" at byte {byte} is no number of 64 bits.",
                         with("text", printable(line)), with("byte", code_position_)));
}

bool PickleMachine::push_string_text(uint8_t code) {
    std::string_view line;
    if (!take_line(line)) {
        return false;
    }
    const auto text = code == opcode::string_text ? decode_quoted(line) : decode_raw_unicode(line);
    return text ? push(PickleValue::of_text(texts_.intern(*text)))
                : fail(Sentence("The file is damaged: the text at byte {byte} is malformed.",
                                with("byte", code_position_)));
}

bool PickleMachine::push_object(Result<PickleValue> object) {
    if (!object) {
        return check(object.error());
    }
    ++containers_;
    return push(*object);
}

// The memo.

template <class T>
bool PickleMachine::put_at() {
    T index{};
    return take(index) && put(index);
}

template <class T>
bool PickleMachine::get_at() {
    T index{};
    return take(index) && get(index);
}

bool PickleMachine::memo_at_text(uint8_t code) {
    std::string_view line;
    if (!take_line(line)) {
        return false;
    }
    uint64_t index = 0;
    const char* end = line.data() + line.size();
    const auto [at, error] = std::from_chars(line.data(), end, index);
    if (error != std::errc{} || at != end) {
        return fail(Sentence("The file is damaged: \"{text}\" at byte {byte} is no memo number.",
                             with("text", printable(line)), with("byte", code_position_)));
    }
    return code == opcode::put ? put(index) : get(index);
}

/// Writers number memo entries consecutively. The limit prevents a forged index from allocating all memory.
bool PickleMachine::put(uint64_t index) {
    if (!require(1)) {
        return false;
    }
    if (index >= std::max<uint64_t>(sparse_memo_limit, code_position_)) {
        return fail(Sentence("The file is damaged: memo number {number} at byte {byte} is too large.",
                             with("number", index), with("byte", code_position_)));
    }
    const PickleValue value = stack_.back();
    uint64_t packed = pack(value);
    if (!fits_packed(value)) {
        packed = (boxed_kind << packed_bits) | boxed_.size();
        boxed_.push_back(value);
    }
    if (index == memo_.size()) {
        memo_.push_back(packed);
        ++memo_count_;
        return true;
    }
    memo_.grow_to(index + 1, never_put);
    memo_count_ += memo_[index] == never_put;
    memo_[index] = packed;
    return true;
}

PickleValue PickleMachine::unbox(uint64_t packed) const { return boxed_[packed & packed_mask]; }

bool PickleMachine::lacks_memo(uint64_t index) {
    return fail(Sentence("The file is damaged: byte {byte} refers to memo number {number}, which was never stored.",
                         with("byte", code_position_), with("number", index)));
}

}  // namespace tidemark
