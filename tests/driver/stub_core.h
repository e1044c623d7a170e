// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Replaces libtidemark_core.so in tests. Stores the records that are pushed.
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
    bool details_paused = false;
    bool starts = false;  ///< whether a start from the environment succeeds
    std::string start_error;
    std::vector<Message> messages;
    std::vector<std::string> texts{""};  ///< by id

    std::vector<tidemark_record> driver_records() const;
    std::vector<std::string> data_gaps() const;
};

StubCore& stub_core();
