// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "tests/hostile/trace_mutator.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/hostile/chunk_forger.h"
#include "tests/hostile/database.h"
#include "tests/hostile/dice.h"
#include "tests/hostile/seal.h"

namespace tidemark::hostile {

namespace {

/// A change of the database. Returns what it did; empty if this database has nothing to change.
using Change = std::string (*)(const Database&, Dice&);

std::optional<Table> pick_table(const Database& database, Dice& dice) {
    std::vector<Table> tables = database.tables();
    std::erase_if(tables, [](const Table& table) { return table.rows == 0 || table.list(true).empty(); });
    return tables.empty() ? std::nullopt : std::optional(tables[dice.below(tables.size())]);
}

const TableColumn& pick_column(const Table& table, Dice& dice) {
    return table.columns[dice.below(table.columns.size())];
}

/// Returns a condition that is true for one row.
std::string pick_row(const Table& table, Dice& dice) {
    const std::string keys = table.list(true);
    return fmt::format("({0}) = (SELECT {0} FROM {1} LIMIT 1 OFFSET {2})", keys, table.name,
                       dice.below(static_cast<uint64_t>(table.rows)));
}

/// Returns an SQL expression. `rows` rows get it; together they stay small enough for quick tries.
std::string weird_text(Dice& dice, int64_t rows = 1) {
    constexpr int64_t most_bytes = 400'000;
    switch (dice.below(8)) {
        case 0: return "''";
        case 1:
            return quoted(std::string(
                static_cast<size_t>(std::max<int64_t>(most_bytes / 4 / std::max<int64_t>(rows, 1), 1)), 'x'));
        case 2: return quoted("\x1b[31m\x1b]0;title\x07");
        case 3: return quoted("\u202egnp.\u202d\u200b\ufeff");
        case 4: return "CAST(x'ff80fe41c0afeda080' AS TEXT)";  // no UTF-8
        case 5: return quoted("one\ntwo\r\n\tthree");
        case 6: return quoted("<b>%1 {name} &amp; ../../etc/passwd</b>\"'");
        default: return quoted(fmt::format("{}", dice.extreme(0)));
    }
}

std::string value_for(const TableColumn& column, int64_t now, Dice& dice) {
    if (dice.one_in(8)) {
        return "NULL";
    }
    if (column.type == "TEXT") {
        return weird_text(dice);
    }
    if (column.type == "REAL") {
        return dice.pick({"9e999", "-9e999", "0.0", "1e-320", "1e18"});
    }
    return column.type == "BLOB" ? "zeroblob(1000)" : fmt::format("{}", dice.extreme(now));
}

// ---- rows --------------------------------------------------------------------------------------------------------

std::string set_value(const Database& database, Dice& dice) {
    const auto table = pick_table(database, dice);
    if (!table) {
        return {};
    }
    const TableColumn& column = pick_column(*table, dice);
    const std::string row = pick_row(*table, dice);
    const int64_t now = database.integer(fmt::format("SELECT {} FROM {} WHERE {}", column.name, table->name, row));
    const std::string value = value_for(column, now, dice);
    database.run(fmt::format("UPDATE {} SET {} = {} WHERE {}", table->name, column.name, value, row));
    return fmt::format("{}.{} = {:.40}", table->name, column.name, value);
}

/// Gives a value of another row.
std::string copy_value(const Database& database, Dice& dice) {
    const auto table = pick_table(database, dice);
    if (!table) {
        return {};
    }
    const std::string& column = pick_column(*table, dice).name;
    database.run(fmt::format("UPDATE {0} SET {1} = (SELECT {1} FROM {0} LIMIT 1 OFFSET {2}) WHERE {3}", table->name,
                             column, dice.below(static_cast<uint64_t>(table->rows)), pick_row(*table, dice)));
    return fmt::format("{}.{} of another row", table->name, column);
}

/// Changes a column of all rows.
std::string change_column(const Database& database, Dice& dice) {
    const auto table = pick_table(database, dice);
    if (!table) {
        return {};
    }
    const TableColumn& column = pick_column(*table, dice);
    const std::string number = fmt::format("{}", dice.extreme(0));
    const std::string value = column.type == "TEXT" ? weird_text(dice, table->rows)
                              : dice.one_in(4)      ? number
                              : dice.one_in(3)      ? fmt::format("-{}", column.name)
                              : dice.one_in(2)      ? fmt::format("{} * {}", column.name, dice.pick({2, 1000, 65536}))
                                                    : fmt::format("{} + {}", column.name, number);
    database.run(fmt::format("UPDATE OR IGNORE {} SET {} = {}", table->name, column.name, value));
    return fmt::format("all {}.{} = {:.40}", table->name, column.name, value);
}

std::string duplicate_rows(const Database& database, Dice& dice) {
    const auto table = pick_table(database, dice);
    const auto id = table ? std::find_if(table->columns.begin(), table->columns.end(),
                                         [](const TableColumn& column) { return column.key > 0; })
                          : std::vector<TableColumn>::const_iterator();
    if (!table) {
        return {};
    }
    std::string values;
    const std::string shift = dice.one_in(2)
                                  ? fmt::format("{} + (SELECT max({}) FROM {})", id->name, id->name, table->name)
                                  : fmt::format("{} + {}", id->name, dice.extreme(1));
    for (const TableColumn& column : table->columns) {
        values += (values.empty() ? "" : ", ") + (column.name == id->name ? shift : column.name);
    }
    const int rows = dice.pick({1, 1, 10, 1000});
    database.run(fmt::format("INSERT OR IGNORE INTO {0} SELECT {1} FROM {0} LIMIT {2}", table->name, values, rows));
    return fmt::format("{} rows of {} twice", rows, table->name);
}

std::string delete_rows(const Database& database, Dice& dice) {
    const auto table = pick_table(database, dice);
    if (!table) {
        return {};
    }
    const std::string condition = dice.pick<std::string>({pick_row(*table, dice), "true", "random() % 3 = 0"});
    if (condition.starts_with("random")) {  // not random: seeds identify mutants
        const std::string keys = table->list(true);
        database.run(fmt::format("DELETE FROM {0} WHERE ({1}) IN (SELECT {1} FROM {0} LIMIT {2} OFFSET {3})",
                                 table->name, keys, 1 + dice.below(static_cast<uint64_t>(table->rows)),
                                 dice.below(static_cast<uint64_t>(table->rows))));
    } else {
        database.run(fmt::format("DELETE FROM {} WHERE {}", table->name, condition));
    }
    return fmt::format("rows of {} deleted", table->name);
}

std::string shift_ids(const Database& database, Dice& dice) {
    const auto table = pick_table(database, dice);
    if (!table) {
        return {};
    }
    const std::string keys = table->list(true);
    const std::string id = keys.substr(0, keys.find(','));
    const int64_t by = dice.extreme(0);
    database.run(fmt::format("UPDATE OR IGNORE {0} SET {1} = {1} + {2}", table->name, id, by));
    return fmt::format("all {}.{} + {}", table->name, id, by);
}

// ---- schema ------------------------------------------------------------------------------------------------------

std::string drop_table(const Database& database, Dice& dice) {
    const auto table = pick_table(database, dice);
    if (!table) {
        return {};
    }
    database.run("PRAGMA legacy_alter_table = on");
    switch (dice.below(5)) {
        case 0:
            database.run(fmt::format("DROP TABLE {}", table->name));
            return fmt::format("table {} dropped", table->name);
        case 1:
            database.run(fmt::format("ALTER TABLE {0} RENAME TO hidden_{0}", table->name));
            database.run(fmt::format("CREATE VIEW {0} AS SELECT * FROM hidden_{0}", table->name));
            return fmt::format("view {} instead of the table", table->name);
        case 2:
            database.run(fmt::format("CREATE TRIGGER t AFTER INSERT ON {0} BEGIN DELETE FROM {0}; END", table->name));
            return fmt::format("trigger on {}", table->name);
        case 3: {
            const std::string& column = pick_column(*table, dice).name;
            database.run(fmt::format("ALTER TABLE {0} RENAME COLUMN {1} TO {1}_", table->name, column));
            return fmt::format("{}.{} renamed", table->name, column);
        }
        default:
            database.run(fmt::format("ALTER TABLE {} ADD COLUMN extra INTEGER AS (1/0)", table->name));
            return fmt::format("{} computes a column", table->name);
    }
}

/// Lets a table have values of any type, and NULL where there must be a value.
std::string loosen_table(const Database& database, Dice& dice) {
    const auto table = pick_table(database, dice);
    if (!table) {
        return {};
    }
    const std::string sql = database.text(fmt::format("SELECT sql FROM sqlite_schema WHERE name = '{}'", table->name));
    const std::string old = "old_" + table->name;
    database.run("PRAGMA legacy_alter_table = on");
    database.run(fmt::format("ALTER TABLE {} RENAME TO {}", table->name, old));
    std::string loose = sql;
    for (const std::string_view word : {" NOT NULL", " STRICT,", " STRICT", " INTEGER,", " TEXT,"}) {
        for (size_t at = loose.find(word); at != std::string::npos; at = loose.find(word, at + 1)) {
            loose.replace(at, word.size(), word.ends_with(',') ? "," : "");
        }
    }
    database.run(loose);
    database.run(fmt::format("INSERT INTO {} SELECT * FROM {}", table->name, old));
    database.run(fmt::format("DROP TABLE {}", old));
    const std::string& column = pick_column(*table, dice).name;
    const std::string value = dice.pick({"NULL", "'text'", "x'ff00'", "1.5e300", "'12abc'"});
    database.run(fmt::format("UPDATE OR IGNORE {} SET {} = {} WHERE {}", table->name, column, value,
                             dice.one_in(2) ? std::string("true") : pick_row(*table, dice)));
    return fmt::format("{}.{} = {}, whatever its type", table->name, column, value);
}

std::string change_version(const Database& database, Dice& dice) {
    const bool application = dice.one_in(8);
    const int64_t version =
        application ? dice.extreme(0x54494445) : dice.pick<int64_t>({0, 1, 2, 3, 4, 5, -1, INT32_MAX});
    const char* name = application ? "application_id" : "user_version";
    database.run(fmt::format("PRAGMA {} = {}", name, version));
    return fmt::format("{} = {}", name, version);
}

std::string change_meta(const Database& database, Dice& dice) {
    const std::string key =
        database.text(fmt::format("SELECT key FROM meta LIMIT 1 OFFSET {}",
                                  dice.below(static_cast<uint64_t>(database.integer("SELECT count(*) FROM meta")))));
    const std::string value = dice.one_in(2) ? weird_text(dice) : fmt::format("'{}'", dice.extreme(0));
    const std::string name = dice.one_in(6) ? fmt::format("{}.{}", key, dice.extreme(0)) : key;
    database.run(fmt::format("INSERT OR REPLACE INTO meta(key, value) VALUES({}, {})", quoted(name), value));
    return fmt::format("meta {} = {:.40}", name, value);
}

// ---- contradictions between tables -------------------------------------------------------------------------------

std::string cross_edges(const Database& database, Dice& dice) {
    const auto one = [&] { return fmt::format("(SELECT id FROM autograd_node LIMIT 1 OFFSET {})", dice.below(1000)); };
    switch (dice.below(3)) {
        case 0: database.run("UPDATE autograd_edge SET next_node = node"); return "edges lead to their own nodes";
        case 1:
            database.run(fmt::format("UPDATE autograd_edge SET next_node = coalesce({}, next_node)", one()));
            return "all edges lead to one node";
        default:
            database.run(
                "INSERT OR IGNORE INTO autograd_edge SELECT next_node, slot + 1000, node, input_number FROM "
                "autograd_edge");
            return "every edge also leads back";
    }
}

std::string cross_saved(const Database& database, Dice& dice) {
    const std::string allocation = dice.pick<std::string>(
        {"allocation + 1", "allocation + 1099511627776", "9", "-1", "(SELECT min(id) FROM allocation)"});
    database.run(fmt::format("UPDATE saved_tensor SET allocation = {}, byte_offset = {}, bytes = {}", allocation,
                             dice.extreme(0), dice.extreme(1 << 20)));
    return fmt::format("saved tensors are in allocation {}", allocation);
}

/// The tables of devices must not make a reader reserve memory for numbers.
std::string add_devices(const Database& database, Dice& dice) {
    const int count = dice.pick({1, 3, 40, 5000});
    const int64_t events = dice.pick<int64_t>({0, 1, 1000, 1 << 20, INT32_MAX, int64_t{1} << 40});
    database.run(
        fmt::format("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "
                    "INSERT OR IGNORE INTO device(id, events) SELECT i + {}, {} FROM n",
                    count, dice.pick<int64_t>({0, 1, 1000, INT32_MAX}), events));
    return fmt::format("{} devices more with {} events each", count, events);
}

std::string change_counts(const Database& database, Dice& dice) {
    const auto [table, column] = dice.pick<std::pair<const char*, const char*>>({{"device", "events"},
                                                                                 {"device", "total_bytes"},
                                                                                 {"allocation_chunk", "count"},
                                                                                 {"allocation_chunk", "first"},
                                                                                 {"mark_event", "events"},
                                                                                 {"heap_scan", "objects"},
                                                                                 {"sample", "used_bytes"},
                                                                                 {"driver_allocation", "bytes"},
                                                                                 {"segment", "size"},
                                                                                 {"allocation", "requested"},
                                                                                 {"data_gap", "count"}});
    const std::string value =
        fmt::format("{}", dice.extreme(database.integer(fmt::format("SELECT {} FROM {}", column, table))));
    database.run(fmt::format("UPDATE {} SET {} = {}", table, column, value));
    return fmt::format("all {}.{} = {}", table, column, value);
}

/// One event at an absurd time, which stretches the time axis.
std::string change_time(const Database& database, Dice& dice) {
    std::vector<std::pair<std::string, std::string>> times;
    for (const Table& table : database.tables()) {
        for (const TableColumn& column : table.columns) {
            if (table.rows > 0 && !table.list(true).empty() && column.name.find("time") != std::string::npos) {
                times.emplace_back(table.name, column.name);
            }
        }
    }
    if (times.empty()) {
        return {};
    }
    const auto& [table, column] = times[dice.below(times.size())];
    const int64_t time = dice.extreme(database.integer(fmt::format("SELECT max({}) FROM {}", column, table)));
    database.run(fmt::format("UPDATE {0} SET {1} = {2} WHERE {1} = (SELECT {3}({1}) FROM {0})", table, column, time,
                             dice.pick({"max", "min"})));
    return fmt::format("{}.{} = {}", table, column, time);
}

std::string add_links(const Database& database, Dice& dice) {
    const int count = dice.pick({1, 100, 20000});
    database.run(
        fmt::format("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "
                    "INSERT OR IGNORE INTO path_link(referrer, position, kind, name) SELECT "
                    "(SELECT id FROM referrer LIMIT 1), i * {}, {}, {} FROM n",
                    count, dice.pick<int64_t>({1, -1, 1 << 20}),
                    dice.pick({"'item'", "'attribute'", "'frame'", "'absurd'"}), dice.extreme(1)));
    return fmt::format("a path of {} links", count);
}

std::string add_scan(const Database& database, Dice& dice) {
    const int64_t id = dice.extreme(1000);
    database.run(
        fmt::format("INSERT OR IGNORE INTO heap_scan(id, time, reason) VALUES({}, {}, 'end')", id, dice.extreme(0)));
    database.run(fmt::format("INSERT OR IGNORE INTO referrer(id, scan, node, allocation) VALUES({}, {}, {}, {})",
                             dice.extreme(1000), id, dice.extreme(0), dice.extreme(0)));
    return "a heap scan of what does not exist";
}

std::string add_gap(const Database& database, Dice& dice) {
    const char* kind = dice.pick({"ring_overflow", "unclean_end", "unlinked_stacks", "absurd", ""});
    database.run(fmt::format(
        "INSERT INTO data_gap(kind, device, time, count, bytes, reason, arguments, text) "
        "VALUES('{}', {}, {}, {}, {}, {}, {}, {})",
        kind, dice.extreme(0), dice.extreme(0), dice.extreme(0), dice.extreme(0), weird_text(dice),
        dice.pick<std::string>({"'{'", "'[[[['", "'{\"a\": {\"b\": [1e999]}}'", "'null'", weird_text(dice)}),
        weird_text(dice)));
    return fmt::format("a data gap '{}'", kind);
}

/// A chain of callers that is very deep, or one that never ends.
std::string deepen_stack(const Database& database, Dice& dice) {
    if (dice.one_in(2)) {
        database.run(
            fmt::format("UPDATE stack SET caller = {}", dice.pick({"id", "id + 1", "(SELECT max(id) FROM stack)"})));
        return "stacks that call themselves";
    }
    database.run(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) INSERT OR IGNORE INTO stack "
        "SELECT (SELECT max(id) FROM stack) + i, (SELECT max(id) FROM stack) + i - 1, (SELECT max(id) FROM frame) FROM "
        "n");
    database.run("UPDATE allocation SET stack = (SELECT max(id) FROM stack)");
    return "a stack of 50000 frames";
}

std::string add_annotations(const Database& database, Dice& dice) {
    const int count = dice.pick({10, 1000, 50000});
    database.run(
        fmt::format("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "
                    "INSERT OR IGNORE INTO {} SELECT i * 1000003, {}, {}, NULL, NULL, i * {}, {} FROM n",
                    count, "annotation", weird_text(dice, count), dice.pick({"'user'", "'optimizer'", "'absurd'"}),
                    dice.pick<int64_t>({0, 1, 1000, -1000}), dice.extreme(0)));
    return fmt::format("{} annotations more", count);
}

constexpr Change changes[] = {set_value,       set_value,   set_value,   set_value,   copy_value,     change_column,
                              duplicate_rows,  delete_rows, shift_ids,   drop_table,  loosen_table,   change_version,
                              change_meta,     change_meta, cross_edges, cross_saved, add_devices,    change_counts,
                              change_time,     change_time, add_links,   add_scan,    add_gap,        deepen_stack,
                              add_annotations, forge_chunk, forge_chunk, forge_chunk, overlap_chunks, duplicate_rows};

}  // namespace

Mutant mutate_trace(std::span<const uint8_t> trace, uint64_t seed, Sealing sealing, uint64_t most) {
    Dice dice(seed);
    const auto database = Database::open(trace);
    if (!database) {
        return flip_bytes(trace, seed, most);
    }
    std::string done;
    const uint64_t count = std::min(1 + dice.below(4), most);
    for (uint64_t i = 0; i < count; ++i) {
        const std::string change = dice.pick(changes)(*database, dice);
        done += (done.empty() || change.empty() ? "" : "; ") + change;
    }
    Mutant mutant{database->bytes(trace), std::move(done)};
    if (sealing == Sealing::renewed) {
        renew_seal(mutant.bytes);
    }
    return mutant;
}

}  // namespace tidemark::hostile
