// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark query: the rows of a query in SQL over the documented views and tables of a trace.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "recorder/cli/command.h"
#include "recorder/cli/csv.h"
#include "recorder/cli/output.h"
#include "storage/query/query.h"
#include "storage/query/query_names.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

/// Columns of the terminal that a cell takes, except in the last column of a table.
constexpr int widest_cell = 60;
/// Bytes of a result without a limit of rows.
constexpr int64_t most_bytes = 1LL << 30;

struct QueryOptions {
    std::string trace, sql;
    std::string format = "table";
    size_t limit = QueryLimits().rows;  ///< 0: all
    double seconds = 60;
    bool examples = false, tables = false;
};

std::string blob_text(const BlobSize& blob, const Words& words) {
    return words.plural(blob.bytes, "blob of {n} byte", "blob of {n} bytes");
}

std::string text_of(const QueryValue& value, const Words& words) {
    if (const auto* integer = std::get_if<int64_t>(&value)) {
        return fmt::to_string(*integer);
    }
    if (const auto* real = std::get_if<double>(&value)) {
        return fmt::to_string(*real);
    }
    if (const auto* blob = std::get_if<BlobSize>(&value)) {
        return blob_text(*blob, words);
    }
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr ? *text : std::string();
}

int width_of(std::string_view text) {
    int width = 0;
    for (; !text.empty(); text.remove_prefix(first_character(text).bytes)) {
        width += columns_of(first_character(text));
    }
    return width;
}

/// Returns the beginning of a text, with "…" if it is wider than a cell.
std::string cell_text(const std::string& text) {
    if (width_of(text) <= widest_cell) {
        return text;
    }
    size_t bytes = 0;
    for (int width = 0; bytes < text.size();) {
        const Character next = first_character(std::string_view(text).substr(bytes));
        width += columns_of(next);
        if (width >= widest_cell) {
            break;
        }
        bytes += next.bytes;
    }
    return text.substr(0, bytes) + "…";
}

/// A column of a table as lines, the first of them the name.
struct TableColumn {
    std::vector<std::string> cells;
    int width = 0;
    bool is_number = true;
};

TableColumn table_column(const QueryRows& rows, size_t column, const Words& words) {
    TableColumn shown;
    const bool is_last = column + 1 == rows.columns.size();
    const auto add = [&](const std::string& text) {
        shown.cells.push_back(is_last ? text : cell_text(text));
        shown.width = std::max(shown.width, width_of(shown.cells.back()));
    };
    add(visible_text(rows.columns[column].name));
    for (size_t row = 0; row < rows.row_count(); ++row) {
        const QueryValue& value = rows.at(row, column);
        shown.is_number =
            shown.is_number && !std::holds_alternative<std::string>(value) && !std::holds_alternative<BlobSize>(value);
        add(std::holds_alternative<std::monostate>(value) ? "NULL" : visible_text(text_of(value, words)));
    }
    return shown;
}

std::string table_text(const QueryRows& rows, const Words& words) {
    std::vector<TableColumn> columns;
    for (size_t column = 0; column < rows.columns.size(); ++column) {
        columns.push_back(table_column(rows, column, words));
    }
    std::string text;
    for (size_t line = 0; line <= rows.row_count(); ++line) {
        std::string row;
        for (const TableColumn& column : columns) {
            const std::string& cell = column.cells[line];
            const std::string padding(static_cast<size_t>(column.width - width_of(cell)), ' ');
            row += (row.empty() ? "" : "  ") + (column.is_number ? padding + cell : cell + padding);
        }
        text += row.erase(row.find_last_not_of(' ') + 1) + '\n';
    }
    return text;
}

std::string rows_csv(const QueryRows& rows, const Words& words) {
    std::string text;
    for (size_t column = 0; column < rows.columns.size(); ++column) {
        text += (column == 0 ? "" : ",") + csv_cell(visible_text(rows.columns[column].name));
    }
    text += "\r\n";
    for (size_t row = 0; row < rows.row_count(); ++row) {
        for (size_t column = 0; column < rows.columns.size(); ++column) {
            const QueryValue& value = rows.at(row, column);
            const std::string cell = text_of(value, words);
            text += (column == 0 ? "" : ",") +
                    (std::holds_alternative<std::string>(value) ? csv_text(cell) : csv_cell(visible_text(cell)));
        }
        text += "\r\n";
    }
    return text;
}

ordered_json json_value(const QueryValue& value) {
    if (const auto* integer = std::get_if<int64_t>(&value)) {
        return *integer;
    }
    if (const auto* real = std::get_if<double>(&value)) {
        return std::isfinite(*real) ? ordered_json(*real) : ordered_json();
    }
    if (const auto* blob = std::get_if<BlobSize>(&value)) {
        return {{"blob_bytes", blob->bytes}};
    }
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr ? ordered_json(*text) : ordered_json();
}

/// Rows are lists: names of columns need not be unique.
ordered_json rows_json(const QueryRows& rows) {
    auto columns = ordered_json::array(), list = ordered_json::array();
    for (const QueryColumn& column : rows.columns) {
        columns.push_back(column.name);
    }
    for (size_t row = 0; row < rows.row_count(); ++row) {
        auto values = ordered_json::array();
        for (size_t column = 0; column < rows.columns.size(); ++column) {
            values.push_back(json_value(rows.at(row, column)));
        }
        list.push_back(std::move(values));
    }
    return {{"columns", std::move(columns)},
            {"rows", std::move(list)},
            {"complete", rows.cut == QueryCut::none},
            {"duration_ns", rows.duration}};
}

void note_cut(const QueryRows& rows, const Words& words) {
    const auto count = static_cast<int64_t>(rows.row_count());
    if (rows.cut == QueryCut::rows) {
        print_note(words, words.plural(count, "only the first row is shown; --limit 0 shows all",
                                       "only the first {n} rows are shown; --limit 0 shows all"));
    } else if (rows.cut == QueryCut::bytes) {
        print_note(words, words.plural(count, "only the first row is shown; more are too large to print at once",
                                       "only the first {n} rows are shown; more are too large to print at once"));
    }
}

Status print_rows(const QueryRows& rows, const std::string& format, const Words& words) {
    const Status printed = format == "json"  ? print_json(rows_json(rows))
                           : format == "csv" ? print_clean(rows_csv(rows, words))
                                             : print(table_text(rows, words));
    TIDEMARK_TRY(printed);
    note_cut(rows, words);
    return {};
}

Status print_examples(const std::string& format, const Words& words) {
    auto list = ordered_json::array();
    std::string text;
    for (const QueryExample& example : query_examples()) {
        list.push_back({{"question", words.translate(example.question)}, {"sql", example.sql}});
        text += fmt::format("{}-- {}\n{}\n", text.empty() ? "" : "\n", words.translate(example.question), example.sql);
    }
    return format == "json" ? print_json(list) : print(text);
}

Status print_tables(const std::string& format, const Words& words) {
    auto list = ordered_json::array();
    std::string text;
    for (const QueryTable& table : query_tables()) {
        list.push_back({{"name", table.name}, {"is_view", table.is_view}, {"columns", table.columns}});
        text += fmt::format("{} {}\n    {}\n", table.is_view ? words("view") : words("table"), table.name,
                            fmt::join(table.columns, ", "));
    }
    return format == "json" ? print_json(list) : print(text);
}

Status run_query(const QueryOptions& options, const Words& words, Progress& progress) {
    if (options.examples) {
        return print_examples(options.format, words);
    }
    if (options.tables) {
        return print_tables(options.format, words);
    }
    if (options.trace.empty() || options.sql.empty()) {
        return usage_error("A query needs a trace and SQL. `tidemark query --examples` prints queries to begin with.");
    }
    QueryLimits limits;
    limits.time = std::chrono::milliseconds(static_cast<int64_t>(options.seconds * 1000));
    if (options.limit != limits.rows) {
        limits.rows = options.limit == 0 ? SIZE_MAX : options.limit;
        limits.bytes = most_bytes;
    }
    const QueryOutcome rows = query_file(options.trace, options.sql, limits, progress);
    if (!rows) {
        return rows.error().error;
    }
    return print_rows(*rows, options.format, words);
}

}  // namespace

void add_query_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<QueryOptions>();
    CLI::App& command = add_command(
        line, "query",
        {words("Query a trace with SQL"),
         words("The query is one SELECT over the views and tables of the trace format, which --tables lists. It reads\n"
               "nothing else and changes nothing. Times are nanoseconds since the start of the trace, sizes bytes.\n"
               "A blob is shown as its length; hex() shows its bytes. In CSV, a text that a spreadsheet would compute\n"
               "begins with '."),
         "  tidemark query run.tide \"SELECT * FROM allocations ORDER BY block_bytes DESC LIMIT 10\"\n"
         "  tidemark query --examples\n"
         "  tidemark query run.tide \"SELECT kind, text FROM data_gaps\" --format csv > gaps.csv"});
    command.add_option("TRACE", options->trace, words("A trace (.tide)"));
    command.add_option("SQL", options->sql, words("The query"));
    command.add_flag("--examples", options->examples, words("Print documented questions with their SQL"));
    command.add_flag("--tables", options->tables, words("Print the views and tables with their columns"));
    add_limit_option(command, words, words("Number of rows to show; 0 shows all"), options->limit);
    command
        .add_option("--timeout", options->seconds,
                    words("Seconds after which the query is stopped; at most 10 while the trace is being written"))
        ->check(within(0.001, 86400, words))
        ->capture_default_str();
    add_format_option(command, words("Output format"), options->format, {"table", "csv", "json"});
    set_work(line, command, [options, words](Progress& progress) { return run_query(*options, words, progress); });
}

}  // namespace tidemark::cli
