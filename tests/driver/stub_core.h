// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Stands in for libtidemark_core.so: keeps the records that are pushed.
#pragma once

#include <string>
#include <vector>

#include "recorder/core/core.h"

struct StubCore {
    struct Message {
        tidemark_record record;
        std::string payload;
    };
    bool recording = true;
    bool starts = false;  ///< a start from the environment succeeds
    std::string start_error;
    std::vector<Message> messages;
    std::vector<std::string> texts{""};  ///< by id

    std::vector<tidemark_record> driver_records() const;
    std::vector<std::string> data_gaps() const;
};

StubCore& stub_core();
