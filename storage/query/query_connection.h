// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A connection that can read the documented views and tables of a trace, and nothing else.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "storage/base/result.h"
#include "storage/sqlite/sqlite.h"

namespace tidemark {

/// What SQLite was not allowed to do for a query.
struct Denied {
    enum class What {
        writing,  ///< any statement that does more than reading
        table,
        function
    };
    What what = What::writing;
    std::string name;
};

/// Thread: that of the connection.
class QueryConnection {
public:
    /// Restricts a hardened connection to an intact trace. Error (input): the file has virtual tables.
    static Result<QueryConnection> restrict(Connection connection, const std::string& path);

    sqlite3* raw() const { return connection_.raw(); }
    /// Returns what the last statement was denied.
    const std::optional<Denied>& denied() const { return *denied_; }
    void forget_denied() { denied_->reset(); }

private:
    explicit QueryConnection(Connection connection);

    std::unique_ptr<std::optional<Denied>> denied_;  ///< SQLite has its address
    Connection connection_;
};

}  // namespace tidemark
