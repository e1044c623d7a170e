// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A file as a stream of plain bytes: gzip, xz and zstd are recognised by content and unpacked on the way.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/base/result.h"

namespace tidemark {

class RawInput;
class Unpacker;

/// Single-threaded. Memory stays near the window's size (256 KiB, more only where one `ensure` asks for more and
/// the bytes really come) plus the unpacker's bounded dictionary. Positions and sizes are bytes.
class ByteSource {
public:
    /// Errors: environment (missing, no permission, a directory, read error) or input (empty, damaged packing).
    static Result<std::unique_ptr<ByteSource>> open(const std::string& path);
    /// Reads `bytes`, which must outlive the source; packed content is recognised like in a file.
    static Result<std::unique_ptr<ByteSource>> from_memory(std::span<const uint8_t> bytes);

    ~ByteSource();
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;

    /// The unread bytes at hand, contiguous; valid until the next `ensure`.
    const uint8_t* data() const { return window_.data() + begin_; }
    size_t available() const { return end_ - begin_; }
    void consume(size_t count) { begin_ += count; }

    /// Makes `count` unread bytes available, fewer only where the stream ends. Fails on a read error, on damaged
    /// or cut packing, and once `*stop` is set.
    Status ensure(size_t count);
    /// The flag that ends reading early. It must stay alive while the source is read, or be replaced by nullptr.
    void stop_on(const std::atomic<bool>* stop) { stop_ = stop; }

    uint64_t position() const { return unpacked_ - available(); }  ///< unpacked bytes consumed
    uint64_t file_position() const;                                ///< bytes taken from the file
    uint64_t file_size() const;                                    ///< 0 where unknown (a pipe)
    const char* packing() const { return packing_; }               ///< "gzip", "xz", "zstd"; "" for plain content

private:
    explicit ByteSource(std::unique_ptr<RawInput> input);
    static Result<std::unique_ptr<ByteSource>> start(std::unique_ptr<RawInput> input);
    Status read_some(std::span<uint8_t> to, size_t& filled);
    Status unpack_some(std::span<uint8_t> to, size_t& filled);
    Status next_member();
    Status fill_packed();
    void make_room(size_t count);
    std::span<const uint8_t> packed() const { return {packed_.data() + packed_begin_, packed_end_ - packed_begin_}; }

    std::unique_ptr<RawInput> input_;
    std::unique_ptr<Unpacker> unpacker_;  ///< of the current member; null for plain content and between members
    const char* packing_ = "";
    std::vector<uint8_t> packed_;  ///< packed bytes read ahead, in [packed_begin_, packed_end_)
    size_t packed_begin_ = 0;
    size_t packed_end_ = 0;
    bool input_ended_ = false;
    std::vector<uint8_t> window_;  ///< unread bytes in [begin_, end_)
    size_t begin_ = 0;
    size_t end_ = 0;
    bool stream_ended_ = false;
    uint64_t unpacked_ = 0;  ///< bytes ever put into the window
    const std::atomic<bool>* stop_ = nullptr;
};

}  // namespace tidemark
