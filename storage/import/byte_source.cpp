// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/byte_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "storage/base/regular_file.h"
#include "storage/base/system_reason.h"
#include "storage/import/unpacker.h"

namespace tidemark {
namespace {

constexpr size_t window_size = size_t{256} << 10;
constexpr size_t packed_size = size_t{128} << 10;

}  // namespace

/// The bytes as stored in the file.
class RawInput {
public:
    virtual ~RawInput() = default;
    /// Sets `filled` to the number of bytes written to `to`; 0 at the end.
    virtual Status read(std::span<uint8_t> to, size_t& filled) = 0;
    virtual uint64_t size() const = 0;
    uint64_t position() const { return position_; }

protected:
    uint64_t position_ = 0;
};

namespace {

class FileInput final : public RawInput {
public:
    FileInput(Descriptor file, uint64_t size) : file_(std::move(file)), size_(size) {}

    Status read(std::span<uint8_t> to, size_t& filled) override {
        ssize_t count = -1;
        do {
            count = ::read(file_.get(), to.data(), to.size());
        } while (count < 0 && errno == EINTR);
        if (count < 0) {
            return environment_error("Reading failed after {bytes} bytes: {reason}.", with("bytes", position_),
                                     with("reason", system_reason(errno)));
        }
        filled = static_cast<size_t>(count);
        position_ += filled;
        return {};
    }
    uint64_t size() const override { return size_; }

private:
    Descriptor file_;
    uint64_t size_;
};

class MemoryInput final : public RawInput {
public:
    explicit MemoryInput(std::span<const uint8_t> bytes) : bytes_(bytes) {}

    Status read(std::span<uint8_t> to, size_t& filled) override {
        const auto rest = bytes_.subspan(position_);
        filled = std::min(to.size(), rest.size());
        std::copy_n(rest.begin(), filled, to.begin());
        position_ += filled;
        return {};
    }
    uint64_t size() const override { return bytes_.size(); }

private:
    std::span<const uint8_t> bytes_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> ByteSource::open(const std::string& path) {
    auto file = open_regular_file(path);
    if (!file) {
        return file.error();
    }
    struct stat about {};
    const bool is_known = ::fstat(file->get(), &about) == 0;
    return start(std::make_unique<FileInput>(*std::move(file), is_known ? static_cast<uint64_t>(about.st_size) : 0));
}

Result<std::unique_ptr<ByteSource>> ByteSource::from_memory(std::span<const uint8_t> bytes) {
    return start(std::make_unique<MemoryInput>(bytes));
}

Result<std::unique_ptr<ByteSource>> ByteSource::start(std::unique_ptr<RawInput> input) {
    std::unique_ptr<ByteSource> source(new ByteSource(std::move(input)));
    while (source->packed().size() < longest_packing_magic && !source->input_ended_) {
        TIDEMARK_TRY(source->fill_packed());
    }
    if (source->packed().empty()) {
        return input_error("The file is empty.");
    }
    source->unpacker_ = make_unpacker(source->packed());
    source->packing_ = source->unpacker_ ? source->unpacker_->name() : "";
    return source;
}

ByteSource::ByteSource(std::unique_ptr<RawInput> input) : input_(std::move(input)) {}
ByteSource::~ByteSource() = default;

uint64_t ByteSource::file_position() const { return input_->position(); }
uint64_t ByteSource::file_size() const { return input_->size(); }

Status ByteSource::ensure(size_t count) {
    if (available() >= count || stream_ended_) {
        return {};
    }
    do {
        if (stop_ && stop_->load(std::memory_order_relaxed)) {
            return canceled_error();
        }
        make_room(count);
        size_t filled = 0;
        TIDEMARK_TRY(read_some(std::span(window_).subspan(end_), filled));
        end_ += filled;
        unpacked_ += filled;
    } while (available() < count && !stream_ended_);
    return {};
}

/// Doubles the window instead of trusting `count`, which may be wrong in a corrupt file.
void ByteSource::make_room(size_t count) {
    std::copy(window_.begin() + static_cast<ptrdiff_t>(begin_), window_.begin() + static_cast<ptrdiff_t>(end_),
              window_.begin());
    end_ -= begin_;
    begin_ = 0;
    if (end_ == window_.size()) {
        const uint64_t size = input_->size();
        const size_t first = packing_[0] || size == 0 ? window_size : std::min<uint64_t>(window_size, size + 1);
        window_.resize(window_.empty() ? std::max<size_t>(first, std::min(count, window_size)) : window_.size() * 2);
    }
}

Status ByteSource::read_some(std::span<uint8_t> to, size_t& filled) {
    if (packing_[0]) {
        return unpack_some(to, filled);
    }
    if (packed_begin_ < packed_end_) {
        filled = std::min(to.size(), packed().size());
        std::copy_n(packed().begin(), filled, to.begin());
        packed_begin_ += filled;
        return {};
    }
    TIDEMARK_TRY(input_->read(to, filled));
    stream_ended_ = filled == 0;
    return {};
}

Status ByteSource::unpack_some(std::span<uint8_t> to, size_t& filled) {
    if (packed().empty() && !input_ended_) {
        TIDEMARK_TRY(fill_packed());
    }
    if (!unpacker_) {
        return next_member();
    }
    const auto step = unpacker_->step(packed(), to);
    if (!step) {
        return step.error();
    }
    packed_begin_ += step->taken;
    filled = step->filled;
    if (step->ended) {
        unpacker_.reset();
        return {};
    }
    if (step->taken > 0 || step->filled > 0) {
        return {};
    }
    if (input_ended_) {
        return input_error(
            "The {name} compression ends too early, after {bytes} bytes; the file was probably cut while copying: "
            "copy it again.",
            with("name", packing_), with("bytes", input_->position()));
    }
    return fill_packed();
}

/// A file may contain several members, padded with zeros. Other data after the last member is ignored, as in the
/// command line tools.
Status ByteSource::next_member() {
    const auto rest = packed();
    const auto content = std::find_if(rest.begin(), rest.end(), [](uint8_t byte) { return byte != 0; });
    packed_begin_ += static_cast<size_t>(content - rest.begin());
    if (packed().size() < longest_packing_magic && !input_ended_) {
        return fill_packed();
    }
    unpacker_ = make_unpacker(packed());
    stream_ended_ = !unpacker_;
    return {};
}

Status ByteSource::fill_packed() {
    packed_.resize(packed_size);
    std::copy(packed_.begin() + static_cast<ptrdiff_t>(packed_begin_),
              packed_.begin() + static_cast<ptrdiff_t>(packed_end_), packed_.begin());
    packed_end_ -= packed_begin_;
    packed_begin_ = 0;
    if (packed_end_ == packed_.size()) {
        return input_error("The {name} compression is damaged ({detail}); copy the file again.", with("name", packing_),
                           with("detail", Sentence("no progress")));
    }
    size_t filled = 0;
    TIDEMARK_TRY(input_->read(std::span(packed_).subspan(packed_end_), filled));
    packed_end_ += filled;
    input_ended_ = filled == 0;
    return {};
}

}  // namespace tidemark
