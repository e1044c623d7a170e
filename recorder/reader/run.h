// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// An open trace: its tables and texts.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/reader/arrow_stream.h"
#include "storage/explain/explained_devices.h"
#include "storage/tables/tables.h"

namespace tidemark::reader {

/// Of which devices, and when.
struct Selection {
    std::optional<int> device;      ///< PyTorch's index; nothing: all
    std::optional<std::string> at;  ///< a time point, as of find_time_point()
};

/// Thread: any may call every method. The analysis of the trace and its explanation are made when they are needed
/// first.
class Run {
public:
    /// Errors: those of open_trace().
    static Result<std::unique_ptr<Run>> open(const std::string& path);
    explicit Run(std::shared_ptr<const Trace> trace) : trace_(std::move(trace)) {}

    using TableResult = Result<std::shared_ptr<const Rows>>;
    /// `by`: of the table groups. Errors: there is no such table, device, time point or grouping (usage); the trace's
    /// graph cannot be read (input).
    TableResult table(std::string_view name, const Selection& selection, const std::string& by) const;
    /// Returns a sentence per device and line: "event 12 of 20, 1.5 s". Errors: as table().
    Result<std::string> points(const Selection& selection) const;
    /// Formats: those of tidemark_run_explanation(). Errors: as table(); the trace has no device (input).
    Result<std::string> explanation(std::string_view format, std::optional<int> device) const;

    /// Compares the state of one device of `a` with one of `b`.
    static TableResult changes(const Run& a, const Selection& at_a, const Run& b, const Selection& at_b,
                               const std::string& by);

private:
    using Devices = std::vector<std::shared_ptr<const AnalysisContext>>;
    /// Returns the contexts of the selected devices; none if the trace has no device.
    Result<Devices> devices(std::optional<int> device) const;
    Result<const Contexts*> contexts() const;
    Result<const std::vector<Explained>*> explained() const;
    Result<std::vector<const Explained*>> explained_devices(std::optional<int> device) const;
    /// Returns the device with PyTorch's index, or the one with most events.
    Result<std::shared_ptr<const AnalysisContext>> one_device(std::optional<int> device) const;

    std::shared_ptr<const Trace> trace_;
    mutable std::mutex mutex_;  ///< of the two below, which are set once
    mutable std::optional<Contexts> contexts_;
    mutable std::optional<std::vector<Explained>> explained_;
};

}  // namespace tidemark::reader
