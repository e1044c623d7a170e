// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The thread that writes a growing trace, so that a slow disk does not delay the recorder.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "storage/write/streaming_file.h"

namespace tidemark {

/// Writes batches on its own thread, one at a time.
class WritingThread {
public:
    explicit WritingThread(StreamingFile file) : file_(std::move(file)), thread_([this] { run(); }) {}
    ~WritingThread() { stop(); }
    WritingThread(const WritingThread&) = delete;
    WritingThread& operator=(const WritingThread&) = delete;

    bool is_cached() {
        const std::lock_guard lock(mutex_);
        return !batch_;
    }
    /// Passes a batch to the thread. Requires that the thread is idle.
    void hand_over(StreamingBatch&& batch) {
        const std::lock_guard lock(mutex_);
        batch_ = std::make_unique<StreamingBatch>(std::move(batch));
        changed_.notify_all();
    }
    Status status() {
        const std::lock_guard lock(mutex_);
        return status_;
    }
    /// Waits until all batches are written. The caller may use the file afterwards.
    StreamingFile& stop() {
        if (thread_.joinable()) {
            {
                const std::lock_guard lock(mutex_);
                stopping_ = true;
                changed_.notify_all();
            }
            thread_.join();
        }
        return file_;
    }

private:
    void run() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [&] { return batch_ || stopping_; });
            if (!batch_) {
                return;
            }
            const bool can_write = static_cast<bool>(status_);
            lock.unlock();
            Status written = can_write ? file_.write(*batch_) : Status();
            lock.lock();
            if (!written) {
                status_ = written;
            }
            batch_.reset();
        }
    }

    StreamingFile file_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::unique_ptr<StreamingBatch> batch_;
    Status status_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace tidemark
