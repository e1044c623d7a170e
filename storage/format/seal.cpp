// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/format/seal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "storage/base/system_reason.h"
#include "storage/format/hash.h"

namespace tidemark {
namespace {

constexpr size_t magic_size = 16, place_size = sizeof(int64_t), hash_size = 16;
constexpr size_t seal_size = magic_size + place_size + hash_size;
constexpr size_t piece_size = 1 << 20;

/// The magic number, the offset of the seal in the file, and the hash of the file with the seal's bytes as zeros.
using SealBytes = std::array<char, seal_size>;

constexpr SealBytes empty_seal() {
    constexpr std::string_view magic("\xc7tidemark seal\x0d\x0a", magic_size);
    SealBytes seal{};
    std::copy(magic.begin(), magic.end(), seal.begin());
    return seal;
}

/// Reads until `bytes` is full or the file ends. Returns the number of bytes read; nothing on an error.
std::optional<size_t> read_at(int file, int64_t at, std::span<char> bytes) {
    size_t got = 0;
    while (got < bytes.size()) {
        const ssize_t more = pread(file, bytes.data() + got, bytes.size() - got, at + static_cast<int64_t>(got));
        if (more < 0 && errno == EINTR) {
            continue;
        }
        if (more < 0) {
            return std::nullopt;
        }
        if (more == 0) {
            break;
        }
        got += static_cast<size_t>(more);
    }
    return got;
}

/// Returns where the only empty seal lies; nothing if there is none or more than one.
std::optional<int64_t> find_empty_seal(int file) {
    constexpr SealBytes wanted = empty_seal();
    std::vector<char> piece(piece_size);
    std::optional<int64_t> found;
    for (int64_t at = 0;;) {
        const size_t got = read_at(file, at, piece).value_or(0);
        const auto end = piece.begin() + static_cast<ptrdiff_t>(got);
        for (auto place = piece.begin(); (place = std::search(place, end, wanted.begin(), wanted.end())) != end;
             ++place) {
            if (found) {
                return std::nullopt;
            }
            found = at + (place - piece.begin());
        }
        if (got < piece.size()) {
            return found;
        }
        at += static_cast<int64_t>(got - seal_size + 1);
    }
}

/// Returns the seal of a file whose seal lies at `place`; nothing if reading failed or was canceled.
std::optional<SealBytes> compute_seal(int file, int64_t place, const Progress& progress) {
    Hash hash;
    std::vector<char> piece(piece_size);
    for (int64_t at = 0;;) {
        const auto got = read_at(file, at, piece);
        if (!got || progress.canceled) {
            return std::nullopt;
        }
        const int64_t end = at + static_cast<int64_t>(*got);
        const int64_t from = std::max(place, at), to = std::min(place + static_cast<int64_t>(seal_size), end);
        if (from < to) {
            std::fill(piece.begin() + (from - at), piece.begin() + (to - at), '\0');
        }
        hash.add(piece.data(), *got);
        at = end;
        if (*got < piece.size()) {
            break;
        }
    }
    SealBytes seal = empty_seal();
    const auto digest = hash.digest();
    static_assert(sizeof digest == hash_size);
    std::memcpy(seal.data() + magic_size, &place, place_size);
    std::memcpy(seal.data() + magic_size + place_size, digest.data(), hash_size);
    return seal;
}

Error unsealed(const std::string& path) {
    return environment_error("{path} cannot be written: {reason}.", with("path", path),
                             with("reason", system_reason(errno)));
}

Status fill_seal(const std::string& path, int file) {
    const auto place = find_empty_seal(file);
    if (!place) {
        return {};  // a text of the trace contains the bytes of an empty seal: the trace stays unsealed
    }
    const auto seal = compute_seal(file, *place, Progress());
    if (!seal || pwrite(file, seal->data(), seal_size, *place) != static_cast<ssize_t>(seal_size)) {
        return unsealed(path);
    }
    return {};
}

}  // namespace

Status write_empty_seal(Connection& connection) {
    constexpr SealBytes empty = empty_seal();
    auto row = connection.prepare("INSERT OR REPLACE INTO seal(id, bytes) VALUES(1, ?)");
    return row ? row->bind_blob(0, std::as_bytes(std::span(empty))).run() : Status(row.error());
}

Status seal_file(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) {
        return unsealed(path);
    }
    Status filled = fill_seal(path, file);
    close(file);
    return filled;
}

Seal check_seal(int file, std::span<const std::byte> stored, const Progress& progress) {
    constexpr SealBytes empty = empty_seal();
    if (stored.empty() || (stored.size() == seal_size && std::memcmp(stored.data(), empty.data(), seal_size) == 0)) {
        return Seal::none;
    }
    if (stored.size() != seal_size) {
        return Seal::broken;
    }
    int64_t place = 0;
    std::memcpy(&place, stored.data() + magic_size, place_size);
    if (place < 0 || place > INT64_MAX / 2) {
        return Seal::broken;
    }
    SealBytes in_place{};
    const bool is_there =
        read_at(file, place, in_place) == seal_size && std::memcmp(in_place.data(), stored.data(), seal_size) == 0;
    const auto seal = is_there ? compute_seal(file, place, progress) : std::nullopt;
    return seal && std::memcmp(seal->data(), stored.data(), seal_size) == 0 ? Seal::intact : Seal::broken;
}

}  // namespace tidemark
