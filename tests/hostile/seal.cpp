// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "tests/hostile/seal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "storage/format/checksums.h"
#include "storage/format/seal.h"
#include "tests/hostile/database.h"

namespace tidemark::hostile {

namespace {

/// Writes a database as a file that a Connection can change.
Result<Connection> connect_to_copy(const Database& database, const std::string& path) {
    std::remove(path.c_str());
    auto connection = Connection::open(path, OpenMode::create);
    if (connection && !database.copy_to(connection->raw())) {
        return environment_error("{path} cannot be written.", with("path", path));
    }
    return connection;
}

Status write_sealed(const Database& database, const std::string& path) {
    auto connection = connect_to_copy(database, path);
    if (!connection) {
        return connection.error();
    }
    TIDEMARK_TRY(connection->execute("DELETE FROM table_checksum; DELETE FROM seal"));
    TIDEMARK_TRY(write_checksums(*connection));
    TIDEMARK_TRY(write_empty_seal(*connection));
    TIDEMARK_TRY(connection->close());
    return seal_file(path);
}

}  // namespace

bool is_sealed(const Bytes& trace) {
    const auto database = Database::open(trace);
    return database && database->integer("SELECT count(*) FROM seal") > 0;
}

void renew_seal(Bytes& trace) {
    const auto database = Database::open(trace);
    if (!database || !database->has("seal")) {
        return;
    }
    const std::string path = fmt::format("/dev/shm/hostile-seal-{}.tide", getpid());
    if (write_sealed(*database, path)) {
        std::ifstream file(path, std::ios::binary);
        trace.assign(std::istreambuf_iterator<char>(file), {});
    }
    std::remove(path.c_str());
}

}  // namespace tidemark::hostile
