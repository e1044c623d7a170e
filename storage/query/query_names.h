// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The names that queries may use, and documented questions with their SQL. No trace is needed for them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/base/sentence.h"

namespace tidemark {

/// A view or table of FORMAT.md.
struct QueryTable {
    std::string name;
    bool is_view = false;
    std::vector<std::string> columns;
    std::string definition;  ///< the statement that creates it
};

/// Returns the views, then the tables, of the current format. Traces of older formats have all of them in queries.
/// Thread: any.
const std::vector<QueryTable>& query_tables();
/// Returns the view or table with this name in any case, or null.
const QueryTable* find_query_table(std::string_view name);

struct QueryExample {
    Sentence question;
    std::string_view sql;
};
/// Returns the questions of FORMAT.md, in its order.
const std::vector<QueryExample>& query_examples();

/// Returns whether a word is a keyword of SQL.
bool is_sql_keyword(std::string_view word);

}  // namespace tidemark
