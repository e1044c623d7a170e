// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Replaces libtidemark_core.so in tests. Stores the records that are pushed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "recorder/core/core.h"

struct StubCore {
    struct Message {
        tidemark_record record;
        std::string payload;
    };
    int recording = 1;
    uint32_t details_paused = 0;
    bool starts = false;  ///< whether a start from the environment succeeds
    std::string start_error;
    uint32_t stack = 77;  ///< the Python stack of every thread; 0: none
    std::map<uint32_t, uint64_t> driver_events;
    std::vector<Message> messages;
    std::vector<std::string> texts{""};  ///< by id

    std::vector<tidemark_record> driver_records() const;
    std::vector<Message> of_kind(int kind) const;
    std::vector<std::string> data_gaps() const;
};

StubCore& stub_core();
