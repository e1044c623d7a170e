// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/read/integrity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <future>

#include "storage/format/checksums.h"
#include "storage/format/seal.h"

namespace tidemark {
namespace {

constexpr int64_t largest_usual_file = int64_t{4} << 30;

/// Returns the content of table seal; empty if there is none.
Result<std::vector<std::byte>> stored_seal(Connection& connection) {
    auto row = connection.prepare("SELECT bytes FROM seal");
    if (!row) {
        return row.error();
    }
    const auto found = row->step();
    if (!found) {
        return found.error();
    }
    const auto bytes = *found ? row->blob(0) : std::span<const std::byte>();
    return std::vector<std::byte>(bytes.begin(), bytes.end());
}

Result<IntegrityReport> check_tables(Connection& connection) {
    auto changed = changed_tables(connection);
    if (!changed) {
        return changed.error();
    }
    return IntegrityReport{Integrity::changed, *std::move(changed)};
}

Result<IntegrityReport> check_sealed(const WatchedFile& file, Connection& connection, const Progress& progress) {
    const auto stored = stored_seal(connection);
    if (!stored) {
        return stored.error();
    }
    const Seal seal = file.check_seal(*stored, progress);
    if (progress.canceled) {
        return canceled_error();
    }
    if (seal == Seal::intact) {
        return IntegrityReport{Integrity::intact, {}};
    }
    // Checksums without a seal: the writer was stopped between them, or a reader that followed the trace to its end
    // kept the writer from sealing it.
    auto report = check_tables(connection);
    if (report && seal == Seal::none && report->changed_tables.empty()) {
        report->integrity = Integrity::unfinished;
    }
    return report;
}

}  // namespace

std::vector<DataGap> IntegrityReport::data_gaps() const {
    if (integrity != Integrity::changed) {
        return {};
    }
    DataGap gap;
    gap.kind = DataGapKind::damaged;
    gap.reason = changed_tables.empty() ? DataGapReason::bytes_changed : DataGapReason::tables_changed;
    gap.count = static_cast<int64_t>(changed_tables.size());
    if (!changed_tables.empty()) {
        gap.arguments["tables"] = fmt::format("{}", fmt::join(changed_tables, ", "));
    }
    return {gap};
}

Result<IntegrityReport> check_integrity(const WatchedFile& file, HowLarge how_large, Progress& progress) {
    const TraceFile found = file.look();
    if (found.state != TraceFile::State::whole) {
        return IntegrityReport{Integrity::unfinished, {}};
    }
    if (how_large == HowLarge::usual && found.bytes > largest_usual_file) {
        return IntegrityReport{Integrity::not_checked, {}};
    }
    auto connection = open_database(file.path(), found, progress);
    if (!connection) {
        return connection.error();
    }
    // Not by the version: then one flipped bit of it would hide all others.
    const auto has_seal = connection->query_integer("SELECT count(*) FROM sqlite_schema WHERE name='seal'");
    if (!has_seal) {
        return has_seal.error();
    }
    return *has_seal == 0 ? IntegrityReport{Integrity::no_checksums, {}} : check_sealed(file, *connection, progress);
}

struct IntegrityCheck::State {
    std::future<Result<IntegrityReport>> report;
};

IntegrityCheck::IntegrityCheck(const WatchedFile& file, Progress& progress)
    : state_(std::make_unique<State>(
          State{std::async(std::launch::async, [&] { return check_integrity(file, HowLarge::usual, progress); })})) {}

IntegrityCheck::~IntegrityCheck() = default;

Result<IntegrityReport> IntegrityCheck::report() { return state_->report.get(); }

}  // namespace tidemark
