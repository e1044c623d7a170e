// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reads a file as a stream of plain bytes. Detects gzip, xz and zstd by content and unpacks them.
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

/// Single-threaded. Memory use stays close to the window's size plus the unpacker's bounded dictionary. The window is
/// 256 KiB; it grows only if one call of ensure() needs more and the stream contains that many bytes. Positions and
/// sizes are in bytes.
class ByteSource {
public:
    /// Opens a file. Errors: environment (missing, no permission, a directory, read error) or input (empty, corrupt
    /// compressed data).
    static Result<std::unique_ptr<ByteSource>> open(const std::string& path);
    /// Reads `bytes`, which must outlive the source. Detects compressed content as in a file.
    static Result<std::unique_ptr<ByteSource>> from_memory(std::span<const uint8_t> bytes);

    ~ByteSource();
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;

    /// Returns the unread bytes in the window, contiguous. Valid until the next call of ensure().
    const uint8_t* data() const { return window_.data() + begin_; }
    size_t available() const { return end_ - begin_; }
    void consume(size_t count) { begin_ += count; }

    /// Makes `count` unread bytes available; fewer only at the end of the stream. Fails on a read error, on corrupt or
    /// truncated compressed data, and after `*stop` was set.
    Status ensure(size_t count);
    /// Sets the flag that ends reading early. It must exist while the source is read, or be replaced by nullptr.
    void stop_on(const std::atomic<bool>* stop) { stop_ = stop; }

    uint64_t position() const { return unpacked_ - available(); }  ///< unpacked bytes consumed
    uint64_t file_position() const;                                ///< bytes read from the file
    uint64_t file_size() const;                                    ///< 0 if unknown (a pipe)
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
    uint64_t unpacked_ = 0;  ///< total bytes that were put into the window
    const std::atomic<bool>* stop_ = nullptr;
};

}  // namespace tidemark
