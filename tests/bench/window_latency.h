// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Measures the time from an event to its picture while a run is recorded.
#pragma once

#include <QSize>
#include <QString>

#include "gui/app/application.h"
#include "storage/base/result.h"

namespace tidemark::gui {

/// Follows a trace in a window until the time is over or the run has ended. Prints milliseconds as JSON.
Status measure_latency(Application& application, const QString& trace, QSize size, double seconds);

}  // namespace tidemark::gui
