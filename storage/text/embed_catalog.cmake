# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

# Writes a C++ file whose function `name` returns the bytes of `catalog`.
file(READ ${catalog} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(WRITE ${output} "#include \"storage/text/embedded_catalogs.h\"

namespace tidemark {
namespace {
constexpr unsigned char bytes[] = {
${bytes}};
}  // namespace

std::string_view ${name}() { return {reinterpret_cast<const char*>(bytes), sizeof bytes}; }

}  // namespace tidemark
")
