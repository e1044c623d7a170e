// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/unpacker.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <initializer_list>

namespace tidemark {
namespace {

constexpr uint64_t xz_memory_limit = uint64_t{512} << 20;
constexpr int zstd_window_log_limit = 27;  // 128 MiB, zstd's own limit without --long

Error damaged(const char* name, const SentenceValue& detail) {
    return input_error("The {name} compression is damaged ({detail}); copy the file again.", with("name", name),
                       with("detail", detail));
}

Error no_memory(const char* name) {
    return environment_error("There is not enough memory to unpack {name}.", with("name", name));
}

class GzipUnpacker final : public Unpacker {
public:
    GzipUnpacker() : ready_(inflateInit2(&stream_, 15 + 16) == Z_OK) {}
    ~GzipUnpacker() override { inflateEnd(&stream_); }
    GzipUnpacker(const GzipUnpacker&) = delete;
    GzipUnpacker& operator=(const GzipUnpacker&) = delete;
    const char* name() const override { return "gzip"; }

    Result<Step> step(std::span<const uint8_t> input, std::span<uint8_t> output) override {
        if (!ready_) {
            return no_memory(name());
        }
        stream_.next_in = const_cast<uint8_t*>(input.data());  // zlib does not write to it
        stream_.avail_in = static_cast<uInt>(input.size());
        stream_.next_out = output.data();
        stream_.avail_out = static_cast<uInt>(output.size());
        const int code = inflate(&stream_, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
            return damaged(name(), stream_.msg ? SentenceValue(stream_.msg) : Sentence("bad data"));
        }
        return Step{input.size() - stream_.avail_in, output.size() - stream_.avail_out, code == Z_STREAM_END};
    }

private:
    z_stream stream_{};
    bool ready_;
};

class XzUnpacker final : public Unpacker {
public:
    XzUnpacker() : ready_(lzma_stream_decoder(&stream_, xz_memory_limit, 0) == LZMA_OK) {}
    ~XzUnpacker() override { lzma_end(&stream_); }
    XzUnpacker(const XzUnpacker&) = delete;
    XzUnpacker& operator=(const XzUnpacker&) = delete;
    const char* name() const override { return "xz"; }

    Result<Step> step(std::span<const uint8_t> input, std::span<uint8_t> output) override {
        if (!ready_) {
            return no_memory(name());
        }
        stream_.next_in = input.data();
        stream_.avail_in = input.size();
        stream_.next_out = output.data();
        stream_.avail_out = output.size();
        const lzma_ret code = lzma_code(&stream_, LZMA_RUN);
        if (code != LZMA_OK && code != LZMA_STREAM_END && code != LZMA_BUF_ERROR) {
            return failure(code);
        }
        return Step{input.size() - stream_.avail_in, output.size() - stream_.avail_out, code == LZMA_STREAM_END};
    }

private:
    static Error failure(lzma_ret code) {
        switch (code) {
            case LZMA_MEMLIMIT_ERROR:
                return input_error("Unpacking this xz file needs more than {limit} MiB of memory; run `xz -d` first.",
                                   with("limit", xz_memory_limit >> 20));
            case LZMA_MEM_ERROR: return no_memory("xz");
            case LZMA_OPTIONS_ERROR: return damaged("xz", Sentence("unsupported options"));
            default: return damaged("xz", Sentence("bad data"));
        }
    }

    lzma_stream stream_ = LZMA_STREAM_INIT;
    bool ready_;
};

class ZstdUnpacker final : public Unpacker {
public:
    ZstdUnpacker() : stream_(ZSTD_createDStream()) {
        if (stream_) {
            ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, zstd_window_log_limit);
        }
    }
    ~ZstdUnpacker() override { ZSTD_freeDStream(stream_); }
    ZstdUnpacker(const ZstdUnpacker&) = delete;
    ZstdUnpacker& operator=(const ZstdUnpacker&) = delete;
    const char* name() const override { return "zstd"; }

    Result<Step> step(std::span<const uint8_t> input, std::span<uint8_t> output) override {
        if (!stream_) {
            return no_memory(name());
        }
        ZSTD_inBuffer in{input.data(), input.size(), 0};
        ZSTD_outBuffer out{output.data(), output.size(), 0};
        const size_t code = ZSTD_decompressStream(stream_, &out, &in);
        if (ZSTD_isError(code)) {
            return failure(code);
        }
        return Step{in.pos, out.pos, code == 0};
    }

private:
    static Error failure(size_t code) {
        switch (ZSTD_getErrorCode(code)) {
            case ZSTD_error_frameParameter_windowTooLarge:
                return input_error(
                    "Unpacking this zstd file needs a window of more than {limit} MiB; run `zstd -d --long=31` first.",
                    with("limit", (1 << zstd_window_log_limit) >> 20));
            case ZSTD_error_memory_allocation: return no_memory("zstd");
            default: return damaged("zstd", ZSTD_getErrorName(code));
        }
    }

    ZSTD_DStream* stream_;
};

bool begins_with(std::span<const uint8_t> bytes, std::initializer_list<uint8_t> magic) {
    return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

bool begins_skippable_zstd(std::span<const uint8_t> bytes) {
    return bytes.size() >= 4 && (bytes[0] & 0xf0) == 0x50 && begins_with(bytes.subspan(1), {0x2a, 0x4d, 0x18});
}

}  // namespace

std::unique_ptr<Unpacker> make_unpacker(std::span<const uint8_t> head) {
    if (begins_with(head, {0x1f, 0x8b})) {
        return std::make_unique<GzipUnpacker>();
    }
    if (begins_with(head, {0xfd, '7', 'z', 'X', 'Z', 0})) {
        return std::make_unique<XzUnpacker>();
    }
    if (begins_with(head, {0x28, 0xb5, 0x2f, 0xfd}) || begins_skippable_zstd(head)) {
        return std::make_unique<ZstdUnpacker>();
    }
    return nullptr;
}

}  // namespace tidemark
