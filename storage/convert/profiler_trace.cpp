// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/convert/profiler_trace.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>

#include "storage/import/byte_source.h"

namespace tidemark {
namespace {

using nlohmann::json;

constexpr size_t block = size_t{64} << 10;

/// The bytes of a file as the input of the JSON parser. Ends at the first error, which it keeps.
class Reader {
public:
    Reader(ByteSource& source, const Progress& progress) : source_(source), progress_(progress) { advance(); }

    bool has_ended() const { return !status_ || source_.available() == 0; }
    char front() const { return static_cast<char>(*source_.data()); }
    void next() {
        source_.consume(1);
        if (source_.available() == 0) {
            advance();
        }
    }
    /// Returns the number of bytes before the one that is in front.
    uint64_t position() const { return source_.position(); }
    const Status& status() const { return status_; }

private:
    void advance() { status_ = progress_.canceled ? Status(canceled_error()) : source_.ensure(1); }

    ByteSource& source_;
    const Progress& progress_;
    Status status_;
};

/// The iterator that the JSON parser wants. All copies are at one place.
class ReaderIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = char;

    ReaderIterator() = default;
    explicit ReaderIterator(Reader& reader) : reader_(&reader) {}
    char operator*() const { return reader_->front(); }
    ReaderIterator& operator++() {
        reader_->next();
        return *this;
    }
    void operator++(int) { reader_->next(); }
    bool operator==(const ReaderIterator& other) const { return is_end() == other.is_end(); }
    bool operator!=(const ReaderIterator& other) const { return !(*this == other); }

private:
    bool is_end() const { return reader_ == nullptr || reader_->has_ended(); }
    Reader* reader_ = nullptr;
};

/// Finds the list of events and the base of their clock.
class Finder : public json::json_sax_t {
public:
    explicit Finder(const Reader& reader) : reader_(reader) {}

    int64_t base = 0;
    uint64_t list = 0;
    bool has_list = false, has_events = false;

    bool null() override { return value(); }
    bool boolean(bool) override { return value(); }
    bool number_integer(number_integer_t number) override { return whole(number); }
    bool number_unsigned(number_unsigned_t number) override { return whole(static_cast<int64_t>(number)); }
    bool number_float(number_float_t, const string_t&) override { return value(); }
    bool string(string_t&) override { return value(); }
    bool binary(binary_t&) override { return value(); }
    bool key(string_t& name) override {
        if (depth_ == 1) {
            key_ = name;
        }
        return true;
    }
    bool start_object(size_t) override { return open(); }
    bool end_object() override { return close(); }
    bool start_array(size_t) override {
        // The parser has read the bracket and nothing after it.
        if (depth_ == 1 && key_ == "traceEvents" && !has_list) {
            has_list = true;
            list = reader_.position();
        }
        return open();
    }
    bool end_array() override { return close(); }
    bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

private:
    bool whole(int64_t number) {
        if (depth_ == 1 && key_ == "baseTimeNanoseconds") {
            base = number;
        }
        return value();
    }
    bool value() {
        has_events = has_events || (depth_ == 2 && key_ == "traceEvents");
        return true;
    }
    bool open() {
        value();
        ++depth_;
        return true;
    }
    bool close() {
        --depth_;
        return true;
    }

    const Reader& reader_;
    size_t depth_ = 0;
    std::string key_;
};

/// Passes on the next `count` bytes; fewer at the end of the file.
Status copy(ByteSource& source, uint64_t count, const TakeBytes& take, const Progress& progress) {
    while (count > 0) {
        if (progress.canceled) {
            return canceled_error();
        }
        TIDEMARK_TRY(source.ensure(std::min<uint64_t>(count, block)));
        const size_t part = std::min<uint64_t>(count, source.available());
        if (part == 0) {
            return {};
        }
        TIDEMARK_TRY(take({reinterpret_cast<const char*>(source.data()), part}));
        source.consume(part);
        count -= part;
    }
    return {};
}

}  // namespace

Result<ProfilerTrace> ProfilerTrace::open(const std::string& path, Progress& progress) {
    auto source = ByteSource::open(path);
    if (!source) {
        return source.error();
    }
    Reader reader(**source, progress);
    Finder finder(reader);
    const bool is_json = json::sax_parse(ReaderIterator(reader), ReaderIterator(), &finder);
    TIDEMARK_TRY(reader.status());
    if (!is_json || !finder.has_list || finder.base < 0) {
        return input_error(
            "{path} is not a trace of torch.profiler: it is no JSON file with a list traceEvents. Write one with "
            "prof.export_chrome_trace(\"trace.json\").",
            with("path", path));
    }
    ProfilerTrace trace(path);
    trace.base_ = finder.base;
    trace.list_ = finder.list;
    trace.has_events_ = finder.has_events;
    return trace;
}

Status ProfilerTrace::write_with(const std::function<Status(const TakeBytes&)>& add, const TakeBytes& take,
                                 Progress& progress) const {
    const auto source = ByteSource::open(path_);
    if (!source) {
        return source.error();
    }
    TIDEMARK_TRY(copy(**source, list_, take, progress));
    TIDEMARK_TRY(add(take));
    if (has_events_) {
        TIDEMARK_TRY(take(",\n"));
    }
    return copy(**source, UINT64_MAX, take, progress);
}

}  // namespace tidemark
