// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/inspector/describe_trace.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QFileInfo>

#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "storage/text/fact_words.h"

namespace tidemark::gui {

namespace {

struct Information {
    Q_DECLARE_TR_FUNCTIONS(tidemark::gui::Information)
};

void add_file(Report& report, const Trace& trace) {
    report.section(Information::tr("File"));
    report.code_field(Information::tr("Path"), to_qstring(trace.path));
    if (trace.file_bytes > 0) {
        report.field(Information::tr("Size"), both_bytes_text(static_cast<uint64_t>(trace.file_bytes)));
    }
    if (!trace.writer.empty()) {
        report.field(Information::tr("Written by"), to_qstring(trace.writer));
    }
    report.field(Information::tr("Format version"), QString::number(trace.format_version));
    report.field(Information::tr("Integrity"), to_qstring(integrity_words(reader_words(), trace.integrity)));
}

void add_run(Report& report, const Trace& trace) {
    report.section(Information::tr("Run"));
    if (trace.start_utc_ns != 0) {
        const QDateTime start = QDateTime::fromMSecsSinceEpoch(trace.start_utc_ns / 1'000'000);
        report.field(Information::tr("Began"), start.toString(QStringLiteral("yyyy-MM-dd HH:mm:ss")));
    }
    report.field(Information::tr("Duration"), duration_text(trace.duration));
    for (const DeviceHistory& device : trace.devices) {
        QString value =
            Information::tr("%1 event(s)", nullptr, plural(device.event_count())).arg(count_text(device.event_count()));
        if (!device.name.empty()) {
            value.prepend(to_qstring(device.name) + QStringLiteral(", "));
        }
        report.field(Information::tr("Device %1").arg(device.device), value);
    }
    if (!trace.steps.empty()) {
        report.field(Information::tr("Steps"), count_text(static_cast<int64_t>(trace.steps.size())));
    }
}

void add_process(Report& report, const Process& process, bool live) {
    report.section(Information::tr("Process %1").arg(process.pid));
    if (!process.command_line.empty()) {
        report.code_field(Information::tr("Command"), to_qstring(process.command_line));
    }
    if (process.place.rank) {
        report.field(Information::tr("Rank"), QString::number(*process.place.rank));
    }
    if (!process.place.role.empty()) {
        report.field(Information::tr("Role"), to_qstring(process.place.role));
    }
    if (!process.place.node.empty()) {
        report.field(Information::tr("Node"), to_qstring(process.place.node));
    }
    const QString ended = ended_text(process);
    report.field(Information::tr("How it ended"), live              ? Information::tr("It is still being recorded.")
                                                  : ended.isEmpty() ? Information::tr("Unknown.")
                                                                    : ended);
    if (process.end) {
        report.field(Information::tr("Ended at"), time_point_text(*process.end));
    }
    if (process.exit_status) {
        report.field(Information::tr("Exit status"), QString::number(*process.exit_status));
    }
}

}  // namespace

Report describe_trace(const Session& session) {
    const Trace& trace = session.trace();
    Report report;
    report.title(QFileInfo(to_qstring(trace.path)).fileName(), to_qstring(source_words(reader_words(), trace)));
    add_file(report, trace);
    add_run(report, trace);
    for (const Process& process : trace.processes) {
        add_process(report, process, session.is_live());
    }
    if (!trace.settings.empty()) {
        report.section(Information::tr("Settings of the allocator and the recording"));
        for (const auto& [key, value] : trace.settings) {
            report.code_field(to_qstring(key), to_qstring(value));
        }
    }
    report.section(Information::tr("Data gaps of this trace"));
    const std::vector<DataGap> data_gaps = session.data_gaps();
    for (const DataGap& data_gap : data_gaps) {
        report.note(data_gap_text(data_gap));
    }
    if (data_gaps.empty()) {
        report.note(Information::tr("None: the whole history is recorded."));
    }
    return report;
}

}  // namespace tidemark::gui
