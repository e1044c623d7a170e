// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/read/read_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "storage/read/damage.h"
#include "storage/read/database.h"
#include "storage/read/late_nodes.h"
#include "storage/read/row_source.h"
#include "storage/read/trace_connection.h"
#include "storage/trace/limits.h"

namespace tidemark {
namespace {

constexpr int first_version_with_graph = 2;
constexpr size_t most_rows = no_node - 1;  ///< of a table: positions have 32 bits

/// Assigns numbers to texts that rows refer to by id, in order of first use, and reads all texts at once.
class TextNumbers {
public:
    uint32_t operator()(int64_t id) {
        if (id <= 0) {
            return 0;
        }
        const auto [entry, is_new] = numbers_.try_emplace(id, static_cast<uint32_t>(numbers_.size() + 1));
        return entry->second;
    }

    Status look_up(RowSource& source, std::vector<std::string>& texts) const {
        texts.assign(numbers_.size() + 1, "");
        const std::vector<std::pair<int64_t, size_t>> ids(numbers_.begin(), numbers_.end());
        return source.look_up("SELECT text FROM string WHERE id=?", ids, [&](Statement& row, size_t number) {
            texts[number] = row.text(0);
            return true;
        });
    }

private:
    std::unordered_map<int64_t, uint32_t> numbers_;
};

class GraphReader {
public:
    GraphReader(RowSource& source, const Trace& trace, GraphTables& tables);
    Status read();

private:
    Status read_nodes();
    Status read_edges();
    void drop_edges_in_cycles();
    Status read_saved();
    Status read_labels();
    Status read_referrers();
    Status read_links();
    void drop_last_exceptions();
    Status read_counts();

    /// Returns `otherwise` for NULL and for what cannot be a time.
    int64_t time_or(const Statement& row, int column, int64_t otherwise) {
        return row.is_null(column) ? otherwise : damage_.time(row.integer(column), otherwise);
    }
    int64_t end_of(const Statement& row, int column, int64_t created) {
        const int64_t time = time_or(row, column, never_happened);
        return time == never_happened ? time : damage_.end(created, time);
    }
    AllocationRef allocation(int64_t id) const;
    /// Returns the position of a node. Searches around `near`, because edges lead to nodes of about the same age.
    NodeIndex node(int64_t id, NodeIndex near) const;
    NodeIndex node(int64_t id) const { return node(id, nodes_.size() / 2); }

    RowSource& source_;
    const Trace& trace_;
    GraphTables& tables_;
    GraphNodes& nodes_ = tables_.nodes;
    TextNumbers text_;
    std::vector<int32_t> device_position_;
    int64_t known_until_;  ///< ns; the trace contains nothing later
    std::vector<int64_t> scan_ids_, referrer_ids_;
    Damage damage_;
};

GraphReader::GraphReader(RowSource& source, const Trace& trace, GraphTables& tables)
    : source_(source),
      trace_(trace),
      tables_(tables),
      device_position_(max_devices, -1),
      known_until_(trace.being_written ? trace.duration : never_happened) {
    for (size_t d = 0; d < trace.devices.size(); ++d) {
        device_position_[static_cast<size_t>(trace.devices[d].device)] = static_cast<int32_t>(d);
    }
}

Status GraphReader::read() {
    TIDEMARK_TRY(read_nodes());
    TIDEMARK_TRY(read_edges());
    drop_edges_in_cycles();
    TIDEMARK_TRY(read_saved());
    date_late_nodes(tables_, trace_);
    TIDEMARK_TRY(read_labels());
    TIDEMARK_TRY(read_referrers());
    TIDEMARK_TRY(read_links());
    drop_last_exceptions();
    TIDEMARK_TRY(read_counts());
    tables_.data_gaps = damage_.data_gaps();
    return text_.look_up(source_, tables_.texts);
}

AllocationRef GraphReader::allocation(int64_t id) const {
    const int64_t device = id >> event_id_shift;
    if (id < 0 || device >= max_devices || device_position_[static_cast<size_t>(device)] < 0) {
        return {};
    }
    const auto position = static_cast<uint32_t>(device_position_[static_cast<size_t>(device)]);
    const auto found = trace_.devices[position].find_allocation(id);
    return found ? AllocationRef{position, *found} : AllocationRef{};
}

NodeIndex GraphReader::node(int64_t id, NodeIndex near) const {
    const auto& ids = nodes_.id;
    size_t low = std::min<size_t>(near, ids.size()), high = low;
    for (size_t leap = 1; low > 0 && ids[low - 1] >= id; leap *= 2) {
        high = low;
        low -= std::min(low, leap);
    }
    for (size_t leap = 1; high < ids.size() && ids[high] < id; leap *= 2) {
        low = high;
        high += std::min(ids.size() - high, leap);
    }
    const auto begin = ids.begin();
    const auto found = std::lower_bound(begin + static_cast<ptrdiff_t>(low), begin + static_cast<ptrdiff_t>(high), id);
    return found != ids.end() && *found == id ? static_cast<NodeIndex>(found - begin) : no_node;
}

/// Returns -1 for NULL, because 0 is the id of the first allocation.
int64_t id_or_none(const Statement& row, int column) { return row.is_null(column) ? -1 : row.integer(column); }

template <class T>
T clamped(int64_t value) {
    return static_cast<T>(std::clamp<int64_t>(value, 0, std::numeric_limits<T>::max()));
}

/// Returns an index, or 0 ("unknown") if it is out of range.
uint32_t index_or_zero(int64_t id, size_t count) {
    return id > 0 && id < static_cast<int64_t>(count) ? static_cast<uint32_t>(id) : 0;
}

Status GraphReader::read_nodes() {
    return source_.each(
        "SELECT id, created_time, type, variable, sequence, origin, stack, executed_time, released_time, "
        "destroyed_time, "
        "output FROM autograd_node ORDER BY id",
        [&](Statement& row) {
            const int64_t id = row.integer(0), created = time_or(row, 1, before_recording);
            if ((nodes_.size() > 0 && nodes_.id.back() >= id) || nodes_.size() == most_rows) {
                return false;
            }
            if (created > known_until_) {
                return true;
            }
            nodes_.id.push_back(id);
            nodes_.type.push_back(text_(row.integer(2)));
            nodes_.variable.push_back(text_(row.integer(3)));
            nodes_.sequence.push_back(row.is_null(4) ? -1 : row.integer(4));
            nodes_.origin.push_back(index_or_zero(row.integer(5), trace_.origins.size()));
            nodes_.stack.push_back(index_or_zero(row.integer(6), trace_.stacks.stack_count()));
            nodes_.created.push_back(created);
            nodes_.executed.push_back(end_of(row, 7, created));
            nodes_.released.push_back(end_of(row, 8, created));
            nodes_.destroyed.push_back(end_of(row, 9, created));
            nodes_.output.push_back(allocation(id_or_none(row, 10)));
            return true;
        });
}

/// Both tables are sorted by node, so each is read in one pass.
Status GraphReader::read_edges() {
    GraphEdges& edges = tables_.edges;
    std::pair<int64_t, int64_t> last{INT64_MIN, INT64_MIN};
    NodeIndex from = 0;
    const auto close_until = [&](int64_t id) {
        for (; from < nodes_.size() && nodes_.id[from] < id; ++from) {
            edges.first.push_back(static_cast<uint32_t>(edges.to.size()));
        }
    };
    TIDEMARK_TRY(source_.each("SELECT node, slot, next_node, input_number FROM autograd_edge ORDER BY node, slot",
                              [&](Statement& row) {
                                  const std::pair key(row.integer(0), row.integer(1));
                                  if (key <= last || edges.to.size() == most_rows) {
                                      return false;
                                  }
                                  last = key;
                                  close_until(key.first);
                                  if (from == nodes_.size() || nodes_.id[from] != key.first) {
                                      return true;
                                  }
                                  if (const NodeIndex to = node(row.integer(2), from); to != no_node) {
                                      edges.to.push_back(to);
                                      edges.slot.push_back(clamped<uint16_t>(key.second));
                                      edges.input.push_back(clamped<uint16_t>(row.integer(3)));
                                  }
                                  return true;
                              }));
    for (; from < nodes_.size(); ++from) {
        edges.first.push_back(static_cast<uint32_t>(edges.to.size()));
    }
    return {};
}

/// Finds the edges that close a cycle: those that lead to a node whose edges are being followed.
std::vector<bool> find_edges_in_cycles(const GraphEdges& edges, NodeIndex nodes) {
    enum class Seen : uint8_t { no, on_path, done };
    std::vector<Seen> seen(nodes, Seen::no);
    std::vector<uint32_t> next(edges.first.begin(), edges.first.end());
    std::vector<bool> closes_cycle(edges.to.size(), false);
    std::vector<NodeIndex> path;
    for (NodeIndex root = 0; root < nodes; ++root) {
        if (seen[root] == Seen::no) {
            path.push_back(root);
            seen[root] = Seen::on_path;
        }
        while (!path.empty()) {
            const NodeIndex node = path.back();
            if (next[node] == edges.first[node + 1]) {
                seen[node] = Seen::done;
                path.pop_back();
                continue;
            }
            const uint32_t edge = next[node]++;
            const NodeIndex to = edges.to[edge];
            closes_cycle[edge] = seen[to] == Seen::on_path;
            if (seen[to] == Seen::no) {
                path.push_back(to);
                seen[to] = Seen::on_path;
            }
        }
    }
    return closes_cycle;
}

/// Other code relies on a graph without cycles, as autograd makes it.
void GraphReader::drop_edges_in_cycles() {
    GraphEdges& edges = tables_.edges;
    const std::vector<bool> closes_cycle = find_edges_in_cycles(edges, nodes_.size());
    const auto dropped = std::count(closes_cycle.begin(), closes_cycle.end(), true);
    damage_.add(DataGapReason::edges_in_cycles, dropped);
    if (dropped == 0) {
        return;
    }
    GraphEdges kept;
    for (NodeIndex node = 0; node < nodes_.size(); ++node) {
        for (uint32_t edge = edges.first[node]; edge < edges.first[node + 1]; ++edge) {
            if (!closes_cycle[edge]) {
                kept.to.push_back(edges.to[edge]);
                kept.slot.push_back(edges.slot[edge]);
                kept.input.push_back(edges.input[edge]);
            }
        }
        kept.first.push_back(static_cast<uint32_t>(kept.to.size()));
    }
    edges = std::move(kept);
}

template <class T>
void reorder(std::vector<T>& column, const std::vector<uint32_t>& order) {
    std::vector<T> sorted;
    sorted.reserve(order.size());
    for (const uint32_t at : order) {
        sorted.push_back(column[at]);
    }
    column = std::move(sorted);
}

Status GraphReader::read_saved() {
    SavedTensors& saved = tables_.saved;
    std::vector<NodeIndex> savers;
    int64_t last = INT64_MIN;
    TIDEMARK_TRY(source_.each(
        "SELECT id, node, name, allocation, byte_offset, bytes, version, is_view, is_packed FROM saved_tensor "
        "ORDER BY id",
        [&](Statement& row) {
            if (row.integer(0) <= last || savers.size() == most_rows) {
                return false;
            }
            last = row.integer(0);
            const NodeIndex saver = node(row.integer(1), savers.empty() ? 0 : savers.back());
            if (saver == no_node) {
                return true;
            }
            savers.push_back(saver);
            saved.name.push_back(text_(row.integer(2)));
            saved.allocation.push_back(allocation(id_or_none(row, 3)));
            saved.offset.push_back(
                static_cast<uint64_t>(std::clamp<int64_t>(row.integer(4), 0, int64_t{largest_size})));
            saved.bytes.push_back(static_cast<uint64_t>(std::clamp<int64_t>(row.integer(5), 0, int64_t{largest_size})));
            saved.version.push_back(clamped<uint16_t>(row.integer(6)));
            saved.is_view.push_back(row.integer(7) != 0);
            saved.is_packed.push_back(row.integer(8) != 0);
            return true;
        }));
    if (!std::is_sorted(savers.begin(), savers.end())) {
        std::vector<uint32_t> order(savers.size());
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return savers[a] < savers[b]; });
        reorder(savers, order);
        reorder(saved.name, order);
        reorder(saved.allocation, order);
        reorder(saved.offset, order);
        reorder(saved.bytes, order);
        reorder(saved.version, order);
        reorder(saved.is_view, order);
        reorder(saved.is_packed, order);
    }
    saved.first.assign(nodes_.size() + 1, 0);
    for (const NodeIndex saver : savers) {
        ++saved.first[saver + 1];
    }
    std::partial_sum(saved.first.begin(), saved.first.end(), saved.first.begin());
    return {};
}

Status GraphReader::read_labels() {
    auto& labels = tables_.labels;
    TIDEMARK_TRY(source_.each(
        "SELECT allocation, time, category, name FROM allocation_category ORDER BY id", [&](Statement& row) {
            const AllocationRef of = allocation(id_or_none(row, 0));
            const Category category = category_from_name(row.text(2));
            // A word of a newer version has no effect; it does not end earlier labels either.
            if (of && category_name(category) == row.text(2)) {
                labels.push_back({of, damage_.time(row.integer(1), 0), category, text_(row.integer(3))});
            }
            return labels.size() < most_rows;
        }));
    std::stable_sort(labels.begin(), labels.end(),
                     [](const CategoryLabel& a, const CategoryLabel& b) { return a.time < b.time; });
    return {};
}

/// Returns the position of an id in ascending ids; nothing if it does not exist.
std::optional<size_t> place_of(const std::vector<int64_t>& ids, int64_t id) {
    const auto found = std::lower_bound(ids.begin(), ids.end(), id);
    return found != ids.end() && *found == id ? std::optional(static_cast<size_t>(found - ids.begin())) : std::nullopt;
}

Status GraphReader::read_referrers() {
    TIDEMARK_TRY(source_.each(
        "SELECT id, time, reason, duration, objects, tensors FROM heap_scan ORDER BY id", [&](Statement& row) {
            scan_ids_.push_back(row.integer(0));
            tables_.scans.push_back({damage_.time(row.integer(1), 0), fact_from_word<ScanReason>(row.text(2)),
                                     row.integer(3), row.integer(4), row.integer(5)});
            return true;
        }));
    return source_.each("SELECT id, scan, node, allocation FROM referrer ORDER BY scan, id", [&](Statement& row) {
        if (const auto scan = place_of(scan_ids_, row.integer(1))) {
            referrer_ids_.push_back(row.integer(0));
            tables_.referrers.push_back(
                {static_cast<uint32_t>(*scan), node(row.integer(2)), allocation(id_or_none(row, 3)), {}});
        }
        return true;
    });
}

Status GraphReader::read_links() {
    // Referrers are sorted by scan, so their ids may not be ascending.
    std::vector<std::pair<int64_t, size_t>> places;
    for (size_t i = 0; i < referrer_ids_.size(); ++i) {
        places.emplace_back(referrer_ids_[i], i);
    }
    std::sort(places.begin(), places.end());
    auto at = places.begin();
    return source_.each("SELECT referrer, kind, name, function, file, line FROM path_link ORDER BY referrer, position",
                        [&](Statement& row) {
                            while (at != places.end() && at->first < row.integer(0)) {
                                ++at;
                            }
                            if (at != places.end() && at->first == row.integer(0)) {
                                tables_.referrers[at->second].links.push_back(
                                    {fact_from_word<PathLinkKind>(row.text(1)), text_(row.integer(2)),
                                     text_(row.integer(3)), text_(row.integer(4)), clamped<int32_t>(row.integer(5))});
                            }
                            return true;
                        });
}

/// The exception that ends the program, or that is being handled then, is stored nowhere: the variables of its frames
/// are those of the functions that were running.
void GraphReader::drop_last_exceptions() {
    for (Referrer& referrer : tables_.referrers) {
        auto& links = referrer.links;
        if (links.size() > 1 && links.front().kind == PathLinkKind::exception &&
            tables_.scans[referrer.scan].reason == ScanReason::end) {
            links.erase(links.begin());
        }
    }
}

Status GraphReader::read_counts() {
    return source_.each(
        "SELECT sum(CAST(value AS INTEGER)) FROM meta WHERE key IN ('graph.nodes_left_out', 'graph.nodes_deleted')",
        [&](Statement& row) {
            tables_.nodes_left_out = std::max<int64_t>(row.integer(0), 0);
            return true;
        });
}

Status read_within_one_transaction(Connection& connection, RowSource& source, const Trace& trace, GraphTables& tables) {
    if (auto begun = connection.execute("BEGIN"); !begun) {
        return source.explain(begun.error());
    }
    const Status read = GraphReader(source, trace, tables).read();
    const Status ended = connection.execute("COMMIT");
    return !read || ended ? read : Status(source.explain(ended.error()));
}

}  // namespace

Result<std::shared_ptr<const GraphTables>> read_graph(const Trace& trace, Progress& progress) {
    auto tables = std::make_shared<GraphTables>();
    if (trace.format_version < first_version_with_graph) {
        return std::shared_ptr<const GraphTables>(std::move(tables));
    }
    auto connection = connect_to(trace, progress);
    if (!connection) {
        return connection.error();
    }
    RowSource source(*connection, trace.path, progress);
    TIDEMARK_TRY(read_within_one_transaction(*connection, source, trace, *tables));
    return std::shared_ptr<const GraphTables>(std::move(tables));
}

}  // namespace tidemark
