// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/program_monitor.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace tidemark::recorder {

ProgramMonitor::ProgramMonitor(pid_t pid) : pid_(pid), file_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {
    gone_ = file_ < 0 && errno == ESRCH;
}

ProgramMonitor::~ProgramMonitor() {
    if (file_ >= 0) {
        close(file_);
    }
}

bool ProgramMonitor::is_gone() {
    if (!gone_ && file_ >= 0) {
        pollfd ended{file_, POLLIN, 0};
        gone_ = poll(&ended, 1, 0) == 1 && (ended.revents & POLLIN) != 0;
    } else if (!gone_) {
        gone_ = kill(pid_, 0) != 0 && errno == ESRCH;
    }
    return gone_;
}

}  // namespace tidemark::recorder
