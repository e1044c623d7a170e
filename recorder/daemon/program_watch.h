// Whether the recorded program is still there.
#pragma once

#include <sys/types.h>

namespace tidemark::recorder {

class ProgramWatch {
public:
    explicit ProgramWatch(pid_t pid);
    ProgramWatch(const ProgramWatch&) = delete;
    ProgramWatch& operator=(const ProgramWatch&) = delete;
    ~ProgramWatch();

    bool is_gone();

private:
    pid_t pid_;
    int file_;  ///< pidfd; -1: this kernel has none
    bool gone_ = false;
};

}  // namespace tidemark::recorder
