// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Everything that reads a file: the commands, the pictures, the follower. Each runs in this process.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tidemark::hostile {

/// The files of one try. Names without a folder are in the working folder of the readings, so that answers about a
/// file do not differ by its place.
struct Paths {
    std::string file;      ///< the mutant
    std::string original;  ///< the file it was made from
    std::string trace;     ///< the mutant as a trace: `file`, or what the import of a snapshot wrote
    std::string scratch;   ///< the working folder
};

struct Reading {
    std::string name;                      ///< "explain --format json"
    std::function<int(const Paths&)> run;  ///< returns the exit status; prints as the program does
    bool answers = false;                  ///< its output is the answer to a question about the file
    bool required = false;                 ///< if it fails, there is nothing for the others to read
};

/// Returns the readings of traces, or those of snapshots and of what their import writes.
std::vector<Reading> trace_readings();
std::vector<Reading> snapshot_readings();

/// Prepares what all readings share, before the first fork.
void prepare_readings(int& argc, char** argv);

/// What an open trace says about itself.
struct Reported {
    bool opened = false;
    bool changed = false;  ///< its bytes differ from those that were written
    int data_gaps = 0;
};
Reported reported_by(const std::string& trace);

}  // namespace tidemark::hostile
