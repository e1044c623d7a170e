// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/format/checksums.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "storage/format/hash.h"
#include "storage/format/schema.h"

namespace tidemark {
namespace {

/// Tables that are written after the checksums.
constexpr std::array<std::string_view, 2> tables_without_checksum{"table_checksum", "seal"};

struct TableSum {
    int64_t rows = 0;
    int64_t checksum = 0;
    bool operator==(const TableSum&) const = default;
};

/// Sums a table's rows in the order of their keys.
Result<TableSum> sum_table(Connection& connection, std::string_view name) {
    auto rows = connection.prepare(fmt::format("SELECT * FROM main.{}", name));
    if (!rows) {
        return rows.error();
    }
    TableSum sum;
    Hash hash;
    std::string row;
    for (;;) {
        const auto more = rows->step();
        if (!more) {
            return more.error();
        }
        if (!*more) {
            const auto digest = hash.digest();
            std::memcpy(&sum.checksum, digest.data(), sizeof sum.checksum);
            return sum;
        }
        row.clear();
        rows->append_values(row);
        hash.add(row.data(), row.size());
        ++sum.rows;
    }
}

std::vector<std::string_view> tables_with_checksum(int64_t version) {
    std::vector<std::string_view> names = table_names(version);
    std::erase_if(names, [](std::string_view name) {
        return std::find(tables_without_checksum.begin(), tables_without_checksum.end(), name) !=
               tables_without_checksum.end();
    });
    return names;
}

}  // namespace

Status write_checksums(Connection& connection) {
    auto insert = connection.prepare("INSERT OR REPLACE INTO table_checksum(name, rows, checksum) VALUES(?, ?, ?)");
    if (!insert) {
        return insert.error();
    }
    for (const std::string_view name : tables_with_checksum(trace_format_version)) {
        const auto sum = sum_table(connection, name);
        if (!sum) {
            return sum.error();
        }
        TIDEMARK_TRY(insert->bind(0, name).bind(1, sum->rows).bind(2, sum->checksum).run());
    }
    return {};
}

Result<std::vector<std::string>> changed_tables(Connection& connection) {
    auto stored = connection.prepare("SELECT rows, checksum FROM table_checksum WHERE name=?");
    if (!stored) {
        return stored.error();
    }
    const auto version = connection.query_integer("PRAGMA user_version");
    if (!version) {
        return version.error();
    }
    std::vector<std::string> changed;
    for (const std::string_view name : tables_with_checksum(*version)) {
        const auto row = stored->bind(0, name).step();
        if (!row) {
            return row.error();
        }
        const auto written = *row ? std::optional(TableSum{stored->integer(0), stored->integer(1)}) : std::nullopt;
        stored->reset();
        const auto found = sum_table(connection, name);
        if (!found && found.error().kind != ErrorKind::input) {
            return found.error();
        }
        if (!found || written != *found) {
            changed.emplace_back(name);
        }
    }
    return changed;
}

}  // namespace tidemark
