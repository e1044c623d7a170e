// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// seal_trace TRACE...: computes the checksums and the seal of traces again that were changed on purpose.
#include <fmt/format.h>

#include <cstdio>

#include "storage/format/checksums.h"
#include "storage/format/seal.h"

namespace {

tidemark::Status seal_again(const char* path) {
    {
        auto connection = tidemark::Connection::open(path, tidemark::OpenMode::create);
        if (!connection) {
            return connection.error();
        }
        TIDEMARK_TRY(connection->execute("BEGIN"));
        TIDEMARK_TRY(tidemark::write_checksums(*connection));
        TIDEMARK_TRY(tidemark::write_empty_seal(*connection));
        TIDEMARK_TRY(connection->execute("COMMIT; VACUUM"));
        TIDEMARK_TRY(connection->close());
    }
    return tidemark::seal_file(path);
}

}  // namespace

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        if (const auto status = seal_again(argv[i]); !status) {
            fmt::print(stderr, "{}\n", status.error().sentence.english());
            return 1;
        }
    }
    return 0;
}
