// The session folder of a recording that was started here: see recorder/SESSIONS.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recorder/cli/program.h"
#include "storage/base/progress.h"
#include "storage/base/result.h"

namespace tidemark::cli {

/// What a recorder process says of its trace.
struct RecordedTrace {
    std::string output, state, how_ended;
    int64_t events = 0, bytes = 0;
    std::vector<std::string> data_gaps;
};

class RecordingSession {
public:
    /// Makes a folder of its own, which is removed when the session is over; or uses `folder`, which stays.
    static Result<RecordingSession> begin(const std::string& folder);
    RecordingSession(RecordingSession&&) noexcept;
    RecordingSession& operator=(RecordingSession&&) = delete;
    ~RecordingSession();

    const std::string& folder() const { return folder_; }

    /// Tells the recorders how the program ended.
    void program_ended(const Ending& ending) const;
    /// Until every recorder process has finished its trace. False: the user stopped the waiting.
    bool wait_for_recorders(const Progress& progress);
    /// In the order of their names; call it when nobody writes any more.
    std::vector<RecordedTrace> traces() const;

private:
    RecordingSession(std::string folder, bool own) : folder_(std::move(folder)), own_(own) {}
    std::vector<std::string> trace_files() const;
    bool anyone_records() const;

    std::string folder_;
    bool own_ = false;  ///< to be removed
};

}  // namespace tidemark::cli
