// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/write/side_tables.h"

namespace tidemark {

namespace {

Result<Statement> with_parameters(Connection& connection, std::string_view sql,
                                  std::initializer_list<int64_t> parameters) {
    auto statement = connection.prepare(sql);
    if (!statement) {
        return statement.error();
    }
    int at = 0;
    for (const int64_t parameter : parameters) {
        statement->bind(at++, parameter);
    }
    return statement;
}

}  // namespace

Result<int64_t> change_rows(Connection& connection, std::string_view sql, std::initializer_list<int64_t> parameters) {
    auto statement = with_parameters(connection, sql, parameters);
    if (!statement) {
        return statement.error();
    }
    TIDEMARK_TRY(statement->run());
    return connection.query_integer("SELECT changes()");
}

Result<int64_t> integer_of(Connection& connection, std::string_view sql, std::initializer_list<int64_t> parameters) {
    auto statement = with_parameters(connection, sql, parameters);
    if (!statement) {
        return statement.error();
    }
    const auto row = statement->step();
    return row ? Result<int64_t>(*row ? statement->integer(0) : 0) : row.error();
}

SideTables::SideTables(Connection& connection) : connection_(&connection) {
    tables_ = {
        // Roles of allocations that are gone.
        {"SELECT max(id) FROM (SELECT id FROM allocation_category WHERE id>?1 AND time<?2 ORDER BY id LIMIT 4096)",
         {"DELETE FROM allocation_category WHERE id>?1 AND id<=?2 AND ?3 AND "
          "NOT EXISTS(SELECT 1 FROM allocation WHERE id=allocation_category.allocation)"}},
        // Nodes that were destroyed, unless a referrer names them. Their edges and saved tensors follow.
        {"SELECT max(id) FROM (SELECT id FROM autograd_node WHERE id>?1 AND created_time<?2 ORDER BY id LIMIT 4096)",
         {"INSERT OR REPLACE INTO meta SELECT 'graph.nodes_deleted', CAST(count(*) + coalesce((SELECT CAST(value AS "
          "INTEGER) FROM meta WHERE key='graph.nodes_deleted'), 0) AS TEXT) FROM autograd_node WHERE id>?1 AND id<=?2 "
          "AND destroyed_time<?3 AND id NOT IN (SELECT node FROM referrer WHERE node IS NOT NULL)",
          "DELETE FROM autograd_node WHERE id>?1 AND id<=?2 AND destroyed_time<?3 AND "
          "id NOT IN (SELECT node FROM referrer WHERE node IS NOT NULL)",
          "DELETE FROM autograd_edge WHERE node>?1 AND node<=?2 AND ?3 AND "
          "NOT EXISTS(SELECT 1 FROM autograd_node WHERE id=autograd_edge.node)"}},
        {"SELECT max(id) FROM (SELECT id FROM saved_tensor WHERE id>?1 AND ?2 AND node<coalesce((SELECT min(id) FROM "
         "autograd_node WHERE created_time>=?2), (SELECT max(id) FROM autograd_node)) ORDER BY id LIMIT 4096)",
         {"DELETE FROM saved_tensor WHERE id>?1 AND id<=?2 AND ?3 AND "
          "NOT EXISTS(SELECT 1 FROM autograd_node WHERE id=saved_tensor.node)"}},
        // The samples with the most memory in use, of each 10 s.
        {"SELECT max(id) FROM (SELECT id FROM sample WHERE id>?1 AND time<?2 ORDER BY id LIMIT 4096)",
         {"DELETE FROM sample WHERE id>?1 AND id<=?2 AND ?3 AND source='nvml' AND time NOT IN (SELECT time FROM "
          "(SELECT time, max(used_bytes) FROM sample WHERE id>?1 AND id<=?2 AND pid IS NULL "
          "GROUP BY device, time/10000000000))"}},
        {"SELECT max(id) FROM (SELECT id FROM annotation WHERE id>?1 AND start_time<?2 ORDER BY id LIMIT 4096)",
         {"DELETE FROM annotation WHERE id>?1 AND id<=?2 AND kind='user' AND end_time<?3"}},
        // One row per minute instead of one per second.
        {"SELECT max(id) FROM (SELECT id FROM recording_cost WHERE id>?1 AND end_time<?2 ORDER BY id LIMIT 4096)",
         {"INSERT OR REPLACE INTO recording_cost SELECT min(id), kind, thread, min(start_time), max(end_time), "
          "sum(count), sum(duration), max(longest) FROM recording_cost WHERE id>?1 AND id<=?2 AND ?3 "
          "GROUP BY kind, thread, start_time/60000000000",
          "DELETE FROM recording_cost WHERE id>?1 AND id<=?2 AND ?3 AND id NOT IN (SELECT min(id) FROM recording_cost "
          "WHERE id>?1 AND id<=?2 GROUP BY kind, thread, start_time/60000000000)"}},
    };
}

Result<bool> SideTables::thin(int64_t horizon) {
    bool any = false;
    for (Table& table : tables_) {
        const auto last = integer_of(*connection_, table.last, {table.visited, horizon});
        if (!last) {
            return last.error();
        }
        if (*last <= table.visited) {
            continue;
        }
        for (const char* sql : table.changes) {
            if (const auto changed = change_rows(*connection_, sql, {table.visited, *last, horizon}); !changed) {
                return changed.error();
            }
        }
        table.visited = *last;
        any = true;
    }
    return any;
}

void SideTables::start_over() {
    for (Table& table : tables_) {
        table.visited = 0;
    }
}

}  // namespace tidemark
