// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Compresses bytes like the gzip, xz and zstd tools.
#pragma once

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace tidemark::test {

using Bytes = std::vector<uint8_t>;

enum class Packing { gzip, xz, zstd };

inline const char* packing_name(Packing packing) {
    return packing == Packing::gzip ? "gzip" : packing == Packing::xz ? "xz" : "zstd";
}

inline Bytes pack_gzip(const Bytes& content) {
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    Bytes packed(deflateBound(&stream, content.size()) + 64);
    stream.next_in = const_cast<uint8_t*>(content.data());
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = packed.data();
    stream.avail_out = static_cast<uInt>(packed.size());
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) {
        throw std::runtime_error("gzip");
    }
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

inline Bytes pack_xz(const Bytes& content) {
    Bytes packed(lzma_stream_buffer_bound(content.size()));
    size_t size = 0;
    if (lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, nullptr, content.data(), content.size(), packed.data(), &size,
                                packed.size()) != LZMA_OK) {
        throw std::runtime_error("xz");
    }
    packed.resize(size);
    return packed;
}

/// Adds a checksum like the zstd tool. The library omits it by default.
inline Bytes pack_zstd(const Bytes& content) {
    Bytes packed(ZSTD_compressBound(content.size()));
    ZSTD_CCtx* context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    const size_t size = ZSTD_compress2(context, packed.data(), packed.size(), content.data(), content.size());
    ZSTD_freeCCtx(context);
    if (ZSTD_isError(size)) {
        throw std::runtime_error("zstd");
    }
    packed.resize(size);
    return packed;
}

inline Bytes pack(const Bytes& content, Packing packing) {
    return packing == Packing::gzip ? pack_gzip(content)
           : packing == Packing::xz ? pack_xz(content)
                                    : pack_zstd(content);
}

}  // namespace tidemark::test
