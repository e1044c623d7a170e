// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reads compiled gettext catalogs (.mo). glibc's gettext() needs an installed locale, which containers lack, so the
// program itself reads the catalogs embedded in it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace tidemark {

/// The translations of one language. Refers to the bytes from which it was read. Immutable. Thread: any.
class Catalog {
public:
    /// Reads a .mo file in this machine's byte order. Returns nothing if the file is incomplete or invalid.
    static std::optional<Catalog> read(std::string_view bytes);

    /// Returns the translation of a message, or of the singular of a message with plural forms. `form` counts from 0.
    std::optional<std::string_view> find(std::string_view message, size_t form = 0) const;
    /// Returns a field of the header: "nplurals=1; plural=0;" for "Plural-Forms". Empty if the field is missing.
    std::string_view header(std::string_view field) const;
    /// Returns the number of messages, without the header.
    size_t size() const { return texts_.size() - texts_.count({}); }

private:
    /// Translations by singular; forms are separated by '\0'.
    std::unordered_map<std::string_view, std::string_view> texts_;
};

}  // namespace tidemark
