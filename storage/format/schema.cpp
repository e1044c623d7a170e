// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/format/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "storage/trace/file_extensions.h"

namespace tidemark {

namespace {

// Times are ns since trace start unless a name says otherwise. Ids of allocation and event rows are device * 2^40 +
// sequence number. References use 0 or NULL for "unknown".
constexpr const char* tables = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE process(id INTEGER PRIMARY KEY, pid INTEGER, rank INTEGER, local_rank INTEGER, world_size INTEGER,
  node TEXT, role TEXT, command_line TEXT, start_time INTEGER, end_time INTEGER, exit_status INTEGER,
  how_ended TEXT) STRICT;
CREATE TABLE thread(id INTEGER PRIMARY KEY, process INTEGER NOT NULL, native_id INTEGER, name TEXT) STRICT;
CREATE TABLE device(id INTEGER PRIMARY KEY, name TEXT, uuid TEXT, total_bytes INTEGER,
  events INTEGER NOT NULL, truncated INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE stream(id INTEGER PRIMARY KEY, handle INTEGER NOT NULL, name TEXT) STRICT;
CREATE TABLE pool(id INTEGER PRIMARY KEY, owner_first INTEGER NOT NULL, owner_second INTEGER NOT NULL,
  name TEXT) STRICT;

CREATE TABLE string(id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE TABLE frame(id INTEGER PRIMARY KEY, function INTEGER NOT NULL, file INTEGER NOT NULL,
  line INTEGER NOT NULL) STRICT;
CREATE TABLE stack(id INTEGER PRIMARY KEY, caller INTEGER NOT NULL, frame INTEGER NOT NULL) STRICT;
CREATE TABLE origin(id INTEGER PRIMARY KEY, thread INTEGER, op INTEGER, module INTEGER, phase INTEGER,
  compile_context INTEGER, user_metadata INTEGER) STRICT;

CREATE TABLE allocation(id INTEGER PRIMARY KEY, time INTEGER, free_after INTEGER, free_delay INTEGER,
  free_completed_after INTEGER, free_completed_delay INTEGER, address INTEGER NOT NULL, requested INTEGER NOT NULL,
  rounding INTEGER NOT NULL, segment INTEGER, stack INTEGER, free_stack INTEGER, origin INTEGER) STRICT;
CREATE TABLE segment(id INTEGER PRIMARY KEY, device INTEGER NOT NULL, address INTEGER NOT NULL, size INTEGER NOT NULL,
  alloc_event INTEGER, alloc_time INTEGER, free_event INTEGER, free_time INTEGER, stream INTEGER NOT NULL,
  pool INTEGER, is_large INTEGER NOT NULL, is_expandable INTEGER NOT NULL, stack INTEGER,
  free_stack INTEGER) STRICT;
CREATE TABLE event(id INTEGER PRIMARY KEY, time INTEGER NOT NULL, action TEXT NOT NULL, address INTEGER,
  size INTEGER, stream INTEGER, stack INTEGER, origin INTEGER) STRICT;

CREATE TABLE repeated_steps(id INTEGER PRIMARY KEY, device INTEGER NOT NULL, event INTEGER NOT NULL,
  events_after INTEGER NOT NULL, start_time INTEGER NOT NULL, end_time INTEGER NOT NULL, like_time INTEGER,
  count INTEGER NOT NULL, events_left_out INTEGER NOT NULL, peak_allocated INTEGER NOT NULL,
  peak_active INTEGER NOT NULL, peak_requested INTEGER NOT NULL, counters BLOB) STRICT;

CREATE TABLE complete_step(id INTEGER PRIMARY KEY, device INTEGER NOT NULL, event INTEGER NOT NULL,
  events_after INTEGER NOT NULL, start_time INTEGER NOT NULL, end_time INTEGER NOT NULL, count INTEGER NOT NULL,
  peak_allocated INTEGER NOT NULL, peak_active INTEGER NOT NULL, peak_requested INTEGER NOT NULL,
  counters BLOB, is_kept INTEGER NOT NULL) STRICT;

CREATE TABLE annotation(id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, device INTEGER,
  thread INTEGER, start_time INTEGER, end_time INTEGER) STRICT;
CREATE TABLE step(id INTEGER PRIMARY KEY, number INTEGER NOT NULL, source TEXT NOT NULL, start_time INTEGER NOT NULL,
  end_time INTEGER) STRICT;
CREATE TABLE mark(id INTEGER PRIMARY KEY, name TEXT NOT NULL, time INTEGER NOT NULL, value REAL) STRICT;
CREATE TABLE mark_event(mark INTEGER NOT NULL, device INTEGER NOT NULL, events INTEGER NOT NULL,
  PRIMARY KEY(mark, device)) STRICT, WITHOUT ROWID;
CREATE TABLE data_gap(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, device INTEGER, time INTEGER NOT NULL,
  count INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, reason TEXT, arguments TEXT, text TEXT) STRICT;

CREATE TABLE driver_allocation(id INTEGER PRIMARY KEY, process INTEGER, device INTEGER, kind TEXT NOT NULL,
  address INTEGER, bytes INTEGER NOT NULL, time INTEGER, free_time INTEGER, source INTEGER, stack INTEGER,
  segment INTEGER) STRICT;
CREATE TABLE sample(id INTEGER PRIMARY KEY, time INTEGER NOT NULL, device INTEGER NOT NULL, pid INTEGER,
  used_bytes INTEGER, total_bytes INTEGER, source TEXT NOT NULL) STRICT;

CREATE TABLE autograd_node(id INTEGER PRIMARY KEY, type INTEGER NOT NULL, sequence INTEGER, origin INTEGER,
  stack INTEGER, variable INTEGER, output INTEGER, created_time INTEGER, executed_time INTEGER, released_time INTEGER,
  destroyed_time INTEGER) STRICT;
CREATE TABLE autograd_edge(node INTEGER NOT NULL, slot INTEGER NOT NULL, next_node INTEGER NOT NULL,
  input_number INTEGER NOT NULL, PRIMARY KEY(node, slot)) STRICT, WITHOUT ROWID;
CREATE TABLE saved_tensor(id INTEGER PRIMARY KEY, node INTEGER NOT NULL, name INTEGER NOT NULL, allocation INTEGER,
  byte_offset INTEGER, bytes INTEGER, version INTEGER, is_view INTEGER, is_packed INTEGER) STRICT;
CREATE TABLE allocation_category(id INTEGER PRIMARY KEY, allocation INTEGER NOT NULL, time INTEGER NOT NULL,
  category TEXT NOT NULL, name INTEGER) STRICT;

CREATE TABLE heap_scan(id INTEGER PRIMARY KEY, time INTEGER NOT NULL, reason TEXT NOT NULL, duration INTEGER,
  objects INTEGER, tensors INTEGER) STRICT;
CREATE TABLE referrer(id INTEGER PRIMARY KEY, scan INTEGER NOT NULL, node INTEGER, allocation INTEGER) STRICT;
CREATE TABLE path_link(referrer INTEGER NOT NULL, position INTEGER NOT NULL, kind TEXT NOT NULL, name INTEGER,
  function INTEGER, file INTEGER, line INTEGER, PRIMARY KEY(referrer, position)) STRICT, WITHOUT ROWID;

CREATE TABLE source_line(id INTEGER PRIMARY KEY, file INTEGER NOT NULL, line INTEGER NOT NULL,
  text TEXT NOT NULL) STRICT;

CREATE TABLE recording_cost(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, thread INTEGER, start_time INTEGER NOT NULL,
  end_time INTEGER NOT NULL, count INTEGER NOT NULL, duration INTEGER NOT NULL, longest INTEGER NOT NULL) STRICT;

CREATE TABLE allocation_chunk(id INTEGER PRIMARY KEY, device INTEGER NOT NULL, first INTEGER NOT NULL,
  count INTEGER NOT NULL, data BLOB NOT NULL) STRICT;

CREATE TABLE table_checksum(name TEXT PRIMARY KEY, rows INTEGER NOT NULL, checksum INTEGER NOT NULL)
  STRICT, WITHOUT ROWID;
CREATE TABLE seal(id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
)sql";

constexpr const char* views = R"sql(
CREATE VIEW frames AS SELECT frame.id, fn.text AS function, fi.text AS file, frame.line,
  replace(fi.text, rtrim(fi.text, replace(fi.text, '/', '')), '') || ':' || frame.line || ' ' || fn.text AS text
  FROM frame JOIN string fn ON fn.id = frame.function JOIN string fi ON fi.id = frame.file;
CREATE VIEW stacks AS
  WITH RECURSIVE walk(id, depth, at) AS (
    SELECT id, 0, id FROM stack UNION ALL
    SELECT walk.id, depth + 1, stack.caller FROM walk JOIN stack ON stack.id = walk.at WHERE stack.caller <> 0)
  SELECT walk.id AS id, walk.depth AS depth, frames.function, frames.file, frames.line, frames.text
  FROM walk JOIN stack ON stack.id = walk.at JOIN frames ON frames.id = stack.frame;
CREATE VIEW allocations AS SELECT allocation.id, allocation.id >> 40 AS device,
  CASE WHEN allocation.id >> 39 & 1 THEN NULL ELSE allocation.id & 0x7fffffffff END AS alloc_event,
  CASE WHEN allocation.id >> 39 & 1 THEN -1 ELSE allocation.id & 0x7fffffffff END + free_after AS free_event,
  CASE WHEN allocation.id >> 39 & 1 THEN -1 ELSE allocation.id & 0x7fffffffff END + free_after + free_completed_after AS free_completed,
  time AS alloc_time, coalesce(time, 0) + free_delay AS free_time,
  coalesce(time, 0) + free_delay + free_completed_delay AS free_completed_time,
  allocation.address, requested AS requested_bytes, requested + rounding AS block_bytes, rounding AS rounding_bytes,
  segment.stream, segment.pool, allocation.segment, allocation.stack, allocation.free_stack, origin
  FROM allocation LEFT JOIN segment ON segment.id = allocation.segment;
CREATE VIEW segments AS SELECT segment.id, device, address, size AS bytes, alloc_event, alloc_time, free_event, free_time,
  stream.handle AS stream_handle, stream, pool, CASE WHEN is_large THEN 'large' ELSE 'small' END AS kind,
  is_expandable, stack, free_stack FROM segment LEFT JOIN stream ON stream.id = segment.stream;
CREATE VIEW live_at_peak AS SELECT allocations.* FROM allocations JOIN meta ON meta.key = 'peak_event.' || device
  WHERE (alloc_event IS NULL OR alloc_event < CAST(meta.value AS INTEGER))
    AND (free_event IS NULL OR free_event >= CAST(meta.value AS INTEGER));
CREATE VIEW nodes AS SELECT autograd_node.id, type.text AS type, variable.text AS variable, module.text AS module,
  op.text AS op, autograd_node.sequence, autograd_node.stack, output,
  CASE WHEN destroyed_time IS NOT NULL THEN 'destroyed' WHEN released_time IS NOT NULL THEN 'released'
    WHEN executed_time IS NOT NULL THEN 'executed' ELSE 'never_executed' END AS state,
  created_time, executed_time, released_time, destroyed_time
  FROM autograd_node LEFT JOIN string type ON type.id = autograd_node.type
  LEFT JOIN string variable ON variable.id = autograd_node.variable
  LEFT JOIN origin ON origin.id = autograd_node.origin
  LEFT JOIN string module ON module.id = origin.module LEFT JOIN string op ON op.id = origin.op;
CREATE VIEW saved_tensors AS SELECT saved_tensor.id, saved_tensor.node, type.text AS type, name.text AS name, allocation,
  byte_offset, bytes, version, is_view, is_packed, created_time, executed_time, released_time, destroyed_time
  FROM saved_tensor LEFT JOIN autograd_node ON autograd_node.id = saved_tensor.node
  LEFT JOIN string type ON type.id = autograd_node.type LEFT JOIN string name ON name.id = saved_tensor.name;
CREATE VIEW data_gaps AS SELECT kind, reason, device, time, count, bytes, arguments, text FROM data_gap;
)sql";

struct KnownTable {
    std::string_view name;
    int first_version = 1, last_version = trace_format_version;

    bool is_of(int64_t version) const { return first_version <= version && version <= last_version; }
};
constexpr KnownTable known_tables[] = {
    {"meta"},
    {"process"},
    {"thread"},
    {"device"},
    {"stream"},
    {"pool"},
    {"string"},
    {"frame"},
    {"stack"},
    {"origin"},
    {"allocation"},
    {"segment"},
    {"event"},
    {"repeated_steps", 6},
    {"complete_step", 7},
    {"annotation"},
    {"step"},
    {"mark"},
    {"mark_event"},
    {"data_gap", 3},
    {"loss", 1, 2},
    {"driver_allocation"},
    {"sample"},
    {"op", 1, 1},
    {"autograd_node"},
    {"autograd_edge"},
    {"saved_tensor"},
    {"allocation_category"},
    {"heap_scan", 3},
    {"referrer", 3},
    {"path_link", 3},
    {"holder_scan", 2, 2},
    {"holder", 2, 2},
    {"holder_link", 2, 2},
    {"source_line", 5},
    {"recording_cost", 6},
    {"allocation_chunk"},
    {"table_checksum", 4},
    {"seal", 4},
};

/// Views that give the tables and columns of formats 1 and 2 their current names.
constexpr const char* names_since_format_1 = R"sql(
CREATE TEMP VIEW data_gap AS SELECT id, kind, device, time, count, bytes, NULL AS reason, NULL AS arguments, text
  FROM main.loss;
CREATE TEMP VIEW allocation AS SELECT id, time, free_after, free_delay, done_after AS free_completed_after,
  done_delay AS free_completed_delay, address, requested, rounding, segment, stack, free_stack, origin
  FROM main.allocation;
)sql";
constexpr const char* names_since_format_2 = R"sql(
CREATE TEMP VIEW autograd_node AS SELECT id, type, sequence, origin, stack, variable, output, created_time,
  executed_time, released_time, died_time AS destroyed_time FROM main.autograd_node;
CREATE TEMP VIEW heap_scan AS SELECT * FROM main.holder_scan;
CREATE TEMP VIEW referrer AS SELECT * FROM main.holder;
CREATE TEMP VIEW path_link AS SELECT holder AS referrer, position, kind, name, function, file, line
  FROM main.holder_link;
)sql";

/// Views that add the columns of later formats.
constexpr const char* columns_since_format_7 = R"sql(
CREATE TEMP VIEW process AS SELECT id, pid, rank, NULL AS local_rank, NULL AS world_size, NULL AS node, NULL AS role,
  command_line, start_time, end_time, exit_status, how_ended FROM main.process;
)sql";

Error foreign(const std::string& path, const Sentence& what) {
    return input_error(
        "{path}: {what} Tidemark opens traces (*{extension}) and imports PyTorch memory snapshots "
        "(tidemark import FILE).",
        with("path", path), with("what", what), with("extension", trace_extension));
}

/// Adds the path to an error of SQLite.
Error in_file(const std::string& path, Error error) {
    if (error.kind != ErrorKind::canceled) {
        error.sentence = Sentence("{path}: {sentence}", with("path", path), with("sentence", error.sentence));
    }
    return error;
}

/// Checks that all tables of the version exist, and that no name of any version is used for anything but a table.
Status check_tables(Connection& connection, const std::string& path, int64_t version) {
    auto objects = connection.prepare("SELECT type, name, coalesce(sql, '') FROM sqlite_schema");
    if (!objects) {
        return in_file(path, objects.error());
    }
    size_t found = 0;
    for (;;) {
        const auto row = objects->step();
        if (!row) {
            return in_file(path, row.error());
        }
        if (!*row) {
            break;
        }
        const std::string_view type = objects->text(0), name = objects->text(1);
        if (type == "trigger") {
            return input_error("{path}: the trace holds a trigger, which no Tidemark writes. It is not opened.",
                               with("path", path));
        }
        const auto known = std::find_if(std::begin(known_tables), std::end(known_tables),
                                        [&](const KnownTable& table) { return table.name == name; });
        if (known == std::end(known_tables)) {
            continue;
        }
        if (type != "table" || !objects->text(2).starts_with("CREATE TABLE ")) {
            return input_error("{path}: '{table}' is not an ordinary table. The trace is not opened.",
                               with("path", path), with("table", name));
        }
        found += known->is_of(version);
    }
    if (found != table_names(version).size()) {
        return input_error("{path}: tables are missing; the trace is damaged or was not finished.", with("path", path));
    }
    return {};
}

Status check_columns(Connection& connection, const std::string& path, int64_t version) {
    auto hidden = connection.prepare("SELECT count(*) FROM pragma_table_xinfo(?, 'main') WHERE hidden <> 0");
    if (!hidden) {
        return in_file(path, hidden.error());
    }
    for (const std::string_view name : table_names(version)) {
        hidden->bind(0, name);
        const auto row = hidden->step();
        if (!row) {
            return in_file(path, row.error());
        }
        if (*row && hidden->integer(0) != 0) {
            return input_error("{path}: table '{table}' computes columns. The trace is not opened.", with("path", path),
                               with("table", name));
        }
        hidden->reset();
    }
    return {};
}

}  // namespace

std::vector<std::string_view> table_names(int64_t version) {
    std::vector<std::string_view> names;
    for (const KnownTable& table : known_tables) {
        if (table.is_of(version)) {
            names.push_back(table.name);
        }
    }
    return names;
}

bool is_table_name(std::string_view name) {
    return std::any_of(std::begin(known_tables), std::end(known_tables), [&](const KnownTable& table) {
        return table.name == name && table.is_of(trace_format_version);
    });
}

bool is_trace_header(std::string_view header) {
    using namespace std::string_view_literals;
    constexpr size_t application_id_at = 68;
    constexpr std::string_view id = "TIDE";  // trace_application_id
    return header.size() >= header_bytes && header.starts_with("SQLite format 3\0"sv) &&
           header.substr(application_id_at, id.size()) == id;
}

Status create_schema(Connection& connection) {
    TIDEMARK_TRY(connection.execute(
        fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", trace_application_id, trace_format_version)
            .c_str()));
    TIDEMARK_TRY(connection.execute(tables));
    return connection.execute(views);
}

Status check_schema(Connection& connection, const std::string& path) {
    const auto application = connection.query_integer("PRAGMA application_id");
    if (!application) {
        return foreign(path, Sentence("this is not an SQLite file, or it is damaged."));
    }
    if (*application != trace_application_id) {
        return foreign(path, Sentence("this SQLite file belongs to another program."));
    }
    const auto version = connection.query_integer("PRAGMA user_version");
    if (!version) {
        return in_file(path, version.error());
    }
    if (*version > trace_format_version) {
        return input_error(
            "{path}: written by a newer Tidemark (trace format {version}, this one reads up to {newest}). "
            "Update Tidemark to open it.",
            with("path", path), with("version", *version), with("newest", trace_format_version));
    }
    const int64_t known_version = std::max<int64_t>(*version, 1);
    TIDEMARK_TRY(check_tables(connection, path, known_version));
    return check_columns(connection, path, known_version);
}

Status adapt_older_format(Connection& connection) {
    const auto version = connection.query_integer("PRAGMA user_version");
    if (!version || *version >= 8) {
        return {};
    }
    TIDEMARK_TRY(connection.execute("PRAGMA query_only=off"));
    TIDEMARK_TRY(connection.execute(columns_since_format_7));
    if (*version <= 2) {
        TIDEMARK_TRY(connection.execute(names_since_format_1));
    }
    if (*version == 2) {
        TIDEMARK_TRY(connection.execute(names_since_format_2));
    }
    return connection.execute("PRAGMA query_only=on");
}

}  // namespace tidemark
