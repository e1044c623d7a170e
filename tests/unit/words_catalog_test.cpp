// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/text/catalog.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "storage/text/embedded_catalogs.h"

namespace tidemark {
namespace {

using namespace std::string_literals;

void put(std::string& bytes, size_t offset, uint32_t number) { std::memcpy(bytes.data() + offset, &number, 4); }

/// Returns a .mo file with these messages and translations.
std::string catalog_file(const std::vector<std::pair<std::string, std::string>>& rows) {
    const size_t originals = 28, translations = originals + 8 * rows.size();
    std::string bytes(translations + 8 * rows.size(), '\0');
    put(bytes, 0, 0x950412de);
    put(bytes, 8, static_cast<uint32_t>(rows.size()));
    put(bytes, 12, static_cast<uint32_t>(originals));
    put(bytes, 16, static_cast<uint32_t>(translations));
    const auto add = [&](size_t entry, const std::string& text) {
        put(bytes, entry, static_cast<uint32_t>(text.size()));
        put(bytes, entry + 4, static_cast<uint32_t>(bytes.size()));
        bytes += text + '\0';
    };
    for (size_t i = 0; i < rows.size(); ++i) {
        add(originals + 8 * i, rows[i].first);
        add(translations + 8 * i, rows[i].second);
    }
    return bytes;
}

const std::string header = "Language: xx\nPlural-Forms: nplurals=2; plural=n != 1;\n";

TEST(WordsCatalog, FindsMessagesAndTheirForms) {
    const std::string file =
        catalog_file({{"", header}, {"cat", "chat"}, {"dog\0dogs"s, "chien\0chiens"s}, {"empty", ""}});
    const auto catalog = Catalog::read(file);
    ASSERT_TRUE(catalog);
    EXPECT_EQ(catalog->size(), 3u);
    EXPECT_EQ(catalog->find("cat"), "chat");
    EXPECT_EQ(catalog->find("dog"), "chien");
    EXPECT_EQ(catalog->find("dog", 1), "chiens");
    EXPECT_EQ(catalog->find("dog", 2), std::nullopt);
    EXPECT_EQ(catalog->find("dogs"), std::nullopt);
    EXPECT_EQ(catalog->find("cat", 1), std::nullopt);
    EXPECT_EQ(catalog->find("empty"), "");
    EXPECT_EQ(catalog->find("bird"), std::nullopt);
    EXPECT_EQ(catalog->find(""), std::nullopt) << "the header is no message";
}

TEST(WordsCatalog, ReadsFieldsOfTheHeader) {
    const std::string with_header = catalog_file({{"", header}}), without_header = catalog_file({{"cat", "chat"}});
    EXPECT_EQ(Catalog::read(with_header)->header("Language"), "xx");
    EXPECT_EQ(Catalog::read(with_header)->header("Plural-Forms"), "nplurals=2; plural=n != 1;");
    EXPECT_EQ(Catalog::read(with_header)->header("Plural"), "");
    EXPECT_EQ(Catalog::read(without_header)->header("Language"), "");
    EXPECT_EQ(Catalog::read(without_header)->size(), 1u);
}

TEST(WordsCatalog, RejectsOtherFiles) {
    EXPECT_FALSE(Catalog::read(""));
    EXPECT_FALSE(Catalog::read("this is a text that is longer than the header"));
    std::string swapped = catalog_file({{"cat", "chat"}}), newer = swapped, far_away = swapped, many = swapped;
    put(swapped, 0, 0xde120495);
    EXPECT_FALSE(Catalog::read(swapped)) << "other byte order";
    put(newer, 4, 0x10000);
    EXPECT_FALSE(Catalog::read(newer)) << "other revision";
    put(far_away, 28 + 4, 0xffffff00);
    EXPECT_FALSE(Catalog::read(far_away)) << "a string behind the end";
    put(many, 8, 0xffffffff);
    EXPECT_FALSE(Catalog::read(many)) << "more entries than bytes";
}

TEST(WordsCatalog, RejectsEveryTruncatedFile) {
    const std::string file = catalog_file({{"", header}, {"dog\0dogs"s, "chien\0chiens"s}});
    for (size_t size = 0; size + 1 < file.size(); ++size) {
        EXPECT_FALSE(Catalog::read(std::string_view(file).substr(0, size))) << size;
    }
}

TEST(WordsCatalog, ChineseIsEmbeddedWithOnePluralForm) {
    const auto chinese = Catalog::read(zh_cn_catalog());
    ASSERT_TRUE(chinese);
    EXPECT_EQ(chinese->header("Language"), "zh_CN");
    EXPECT_EQ(chinese->header("Plural-Forms"), "nplurals=1; plural=0;") << "Words uses form 0 for all numbers";
    EXPECT_GT(chinese->size(), 300u);
}

}  // namespace
}  // namespace tidemark
