// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/recording.h"

#include <signal.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStandardPaths>

#include "gui/model/explanation_source.h"
#include "gui/model/file_name.h"
#include "gui/model/text.h"
#include "storage/read/follow.h"

namespace tidemark::gui {

namespace {

constexpr int poll_interval = 150;  // milliseconds

RecordedProcess read_process(const QJsonObject& json) {
    RecordedProcess process;
    process.pid = json.value(QLatin1String("pid")).toInteger();
    process.trace = json.value(QLatin1String("output")).toString();
    process.state = json.value(QLatin1String("state")).toString();
    process.how_ended = to_qstring(json.value(QLatin1String("how_ended")).toString().toStdString());
    process.events = json.value(QLatin1String("events")).toInteger();
    for (const QJsonValue& data_gap : json.value(QLatin1String("data_gaps")).toArray()) {
        process.data_gaps << to_qstring(data_gap.toString().toStdString());
    }
    if (const QString failure = json.value(QLatin1String("failure")).toString(); !failure.isEmpty()) {
        process.data_gaps << to_qstring(failure.toStdString());
    }
    return process;
}

}  // namespace

TidemarkCommand find_tidemark(const QString& program_folder) {
    TidemarkCommand command;
    for (const char* place : {"/tidemark", "/../recorder/cli/tidemark"}) {
        const QString file = QDir::cleanPath(program_folder + QLatin1String(place));
        if (const QFileInfo info(file); info.isFile() && info.isExecutable()) {
            command.path = file;
            return command;
        }
        command.looked << file;
    }
    command.path = QStandardPaths::findExecutable(QStringLiteral("tidemark"));
    return command;
}

std::vector<RecordPart> read_parts(const QByteArray& json) {
    const QJsonArray list = QJsonDocument::fromJson(json).object().value(QLatin1String("parts")).toArray();
    std::vector<RecordPart> parts;
    for (const QJsonValue& value : list) {
        const QJsonObject part = value.toObject();
        const auto text = [&](const char* key) { return part.value(QLatin1String(key)).toString(); };
        if (!text("name").isEmpty() && !part.value(QLatin1String("optional")).toBool()) {
            const QString is = text("text"), fix = text("fix");
            parts.push_back({text("name"), text("title"), part.value(QLatin1String("ok")).toBool(true),
                             is.isEmpty()    ? fix
                             : fix.isEmpty() ? is
                                             : Recording::tr("%1. %2", "what is there, what to do").arg(is, fix)});
        }
    }
    return parts;
}

Recording::Recording(const QString& tidemark, QObject* parent)
    : QObject(parent), tidemark_(tidemark), process_(new QProcess(this)) {
    process_->setProcessChannelMode(QProcess::MergedChannels);
    log_.setFileName(session_.filePath(QStringLiteral("output.log")));
    process_->setStandardOutputFile(log_.fileName());
    // The program gets its own process group: one signal reaches all its processes and nothing else.
    process_->setChildProcessModifier([] { ::setpgid(0, 0); });
    connect(process_, &QProcess::finished, this, &Recording::handle_end);
    connect(process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) {
            timer_.stop();
            emit failed(tr("%1 could not be started: %2").arg(tidemark_, process_->errorString()));
        }
    });
    timer_.setInterval(poll_interval);
    connect(&timer_, &QTimer::timeout, this, &Recording::poll);
}

Recording::~Recording() {
    process_->disconnect(this);
    if (running()) {
        // Qt would kill its child process, so the process and its session folder are detached instead.
        session_.setAutoRemove(false);
        process_->setParent(nullptr);
        connect(process_, &QProcess::finished, process_, &QObject::deleteLater);
    }
}

QStringList language_option() {
    const std::string_view name = language_name(ExplanationSource::language());
    return {QStringLiteral("--language"), QString::fromLatin1(name.data(), static_cast<qsizetype>(name.size()))};
}

void Recording::start(const RecordRequest& request) {
    if (!session_.isValid()) {
        emit failed(tr("The folder of the session could not be created: %1").arg(session_.errorString()));
        return;
    }
    const QStringList arguments{
        QStringLiteral("record"), QStringLiteral("--session"), session_.path(),          QStringLiteral("-o"),
        request.output,           QStringLiteral("--with"),    request.parts.join(u','), QStringLiteral("--quiet")};
    process_->setWorkingDirectory(request.folder);
    process_->start(tidemark_, arguments + language_option() + QStringList{QStringLiteral("--")} + request.command);
    timer_.start();
    emit changed();
}

void Recording::stop_recording() {
    QFile stop(session_.filePath(QStringLiteral("stop")));
    if (stop.open(QIODevice::WriteOnly)) {
        stop_requested_ = true;
        emit changed();
    } else {
        emit failed(tr("The recording could not be stopped: %1").arg(stop.errorString()));
    }
}

void Recording::end_program(bool kill) {
    if (running()) {
        ::kill(-static_cast<pid_t>(process_->processId()), kill ? SIGKILL : SIGTERM);
    }
}

bool Recording::any_recording() const {
    return std::any_of(processes_.begin(), processes_.end(), [](const RecordedProcess& p) { return p.recording(); });
}

void Recording::read_log() {
    if (log_.isOpen() || log_.open(QIODevice::ReadOnly)) {
        const QByteArray bytes = log_.readAll();
        if (!bytes.isEmpty()) {
            emit output(QString::fromUtf8(bytes));
        }
    }
}

std::vector<RecordedProcess> Recording::read_processes() const {
    std::vector<RecordedProcess> found;
    const QDir folder(session_.path());
    for (const QString& name : folder.entryList({QStringLiteral("*.trace")}, QDir::Files, QDir::Name)) {
        QFile file(folder.filePath(name));
        if (file.open(QIODevice::ReadOnly)) {
            // A file that is just being rewritten is no valid JSON; the next poll reads it.
            const QJsonDocument document = QJsonDocument::fromJson(file.readAll());
            const RecordedProcess process = read_process(document.object());
            const qint64 pid = name.section(u'.', 0, 0).toLongLong();
            const auto known = std::find_if(processes_.begin(), processes_.end(),
                                            [pid](const RecordedProcess& p) { return p.pid == pid; });
            if (document.isObject() && !process.trace.isEmpty()) {
                found.push_back(process);
            } else if (known != processes_.end()) {
                found.push_back(*known);
            }
        }
    }
    return found;
}

void Recording::poll() {
    read_log();
    std::vector<RecordedProcess> found = read_processes();
    for (const RecordedProcess& process : found) {
        const bool there = process.recording() ? is_being_written(bytes_of_file_name(process.trace))
                                               : QFileInfo::exists(process.trace);
        if (there && !ready_.contains(process.trace)) {
            ready_ << process.trace;
            emit trace_ready(process.trace);
        }
    }
    if (found != processes_) {
        processes_ = std::move(found);
        emit changed();
    }
    if (!running() && !any_recording()) {
        timer_.stop();
    }
}

void Recording::handle_end(int code, QProcess::ExitStatus status) {
    poll();
    emit finished(status == QProcess::CrashExit ? tr("The program was killed by signal %1.").arg(code)
                  : code == 0                   ? tr("The program ended.")
                                                : tr("The program exited with status %1.").arg(code));
    emit changed();
}

}  // namespace tidemark::gui
