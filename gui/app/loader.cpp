// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/loader.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>
#include <QThread>

#include "gui/model/text.h"
#include "storage/import/import.h"

namespace tidemark::gui {

namespace {

/// Translates a text marked by QT_TRANSLATE_NOOP("Loader", ...).
QString translated(const char* text) { return QCoreApplication::translate("Loader", text); }

bool looks_like_trace(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) && file.read(16) == QByteArray("SQLite format 3\0", 16);
}

bool folder_writable(const QString& folder) {
    QFile probe(folder + QStringLiteral("/.tidemark-%1").arg(QCoreApplication::applicationPid()));
    return probe.open(QIODevice::WriteOnly | QIODevice::NewOnly) && probe.remove();
}

bool newer(const QString& file, const QFileInfo& than) {
    const QFileInfo info(file);
    return info.isFile() && info.size() > 0 && info.lastModified() >= than.lastModified();
}

Result<Opened> as_session(Result<std::shared_ptr<const Trace>> trace, const QString& path, Progress& progress) {
    if (!trace) {
        return trace.error();
    }
    progress.report("analyzing", 0);
    Opened opened;
    opened.session = std::make_shared<Session>(*trace, Session::analyze(*trace));
    if (progress.canceled) {
        return canceled_error();
    }
    opened.session->moveToThread(QCoreApplication::instance()->thread());
    opened.trace_path = path;
    return opened;
}

/// Reads a growing trace. A recorder that has just begun may not have committed anything yet.
Result<Opened> open_followed(const QString& path, Progress& progress) {
    constexpr int attempts = 50;
    constexpr unsigned long pause = 100;  // milliseconds
    auto follower = TraceFollower::open(path.toStdString());
    if (!follower) {
        return follower.error();
    }
    auto shared = std::make_shared<TraceFollower>(std::move(*follower));
    for (int attempt = 0; attempt < attempts; ++attempt) {
        auto trace = shared->poll(progress);
        if (!trace || *trace) {
            auto opened = as_session(std::move(trace), path, progress);
            if (opened) {
                opened->follower = shared;
            }
            return opened;
        }
        QThread::msleep(pause);
    }
    return input_error("{path} is being written and is still empty.", with("path", path.toStdString()));
}

Result<Opened> open_as_session(const QString& path, Progress& progress) {
    if (is_being_written(path.toStdString())) {
        return open_followed(path, progress);
    }
    return as_session(open_trace(path.toStdString(), progress), path, progress);
}

}  // namespace

ImportPlace import_place(const QString& snapshot) {
    const QFileInfo info(snapshot);
    const QString beside = QString::fromStdString(trace_path_for(info.absoluteFilePath().toStdString()));
    const QString name = QFileInfo(beside).fileName();
    if (newer(beside, info) && looks_like_trace(beside)) {
        return {beside, false, true};
    }
    const QByteArray id =
        QCryptographicHash::hash(info.absoluteFilePath().toUtf8(), QCryptographicHash::Sha1).toHex().left(10);
    const QString cache = QStandardPaths::writableLocation(QStandardPaths::CacheLocation) + QStringLiteral("/imports");
    const QString cached = cache + '/' + QString::fromLatin1(id) + '-' + name;
    if (newer(cached, info) && looks_like_trace(cached)) {
        return {cached, true, true};
    }
    // An older file of that name, or one that is no trace, may be the user's work, so it is not overwritten.
    if (folder_writable(info.absolutePath()) && !QFileInfo::exists(beside)) {
        return {beside, false, false};
    }
    return {cached, true, false};
}

Result<Opened> load_trace(const QString& path, Progress& progress) {
    const QFileInfo info(path);
    if (!info.exists()) {
        return environment_error("There is no file {path}.", with("path", path.toStdString()));
    }
    if (info.isDir()) {
        return environment_error("{path} is a folder. Name a trace or a snapshot in it.",
                                 with("path", path.toStdString()));
    }
    if (path.endsWith(QLatin1String(".tide"), Qt::CaseInsensitive) || looks_like_trace(path)) {
        return open_as_session(path, progress);
    }
    ImportPlace place = import_place(path);
    if (place.up_to_date) {
        auto opened = open_as_session(place.path, progress);
        if (opened || opened.error().kind == ErrorKind::canceled) {
            return opened;
        }
        // The existing file is outdated: import again, to another place if it is outside the cache.
        if (place.in_cache) {
            QFile::remove(place.path);
        }
        place = {QStandardPaths::writableLocation(QStandardPaths::CacheLocation) + QStringLiteral("/imports/again-") +
                     QFileInfo(place.path).fileName(),
                 true, false};
    }
    if (place.in_cache) {
        QDir().mkpath(QFileInfo(place.path).absolutePath());
    }
    const auto if_exists = place.in_cache ? IfExists::replace : IfExists::fail;
    auto opened = as_session(import_snapshot(path.toStdString(), place.path.toStdString(), if_exists, progress),
                             place.path, progress);
    if (opened && place.in_cache) {
        opened->note =
            translated(QT_TRANSLATE_NOOP("Loader", "The snapshot's folder was not changed. The imported trace is %1"))
                .arg(place.path);
    }
    return opened;
}

struct Loader::Job {
    Progress progress;
    std::unique_ptr<QThread> thread;
};

Loader::Loader(QObject* parent) : QObject(parent) {}

Loader::~Loader() { stop(); }

void Loader::stop() {
    if (job_) {
        job_->progress.canceled = true;
        job_->thread->wait();
    }
}

void Loader::cancel() {
    if (job_) {
        job_->progress.canceled = true;
    }
}

void Loader::load(const QString& path) {
    if (job_) {
        return;
    }
    auto job = std::make_shared<Job>();
    job_ = job;
    job->progress.report = [this](const char* phase, double fraction) {
        QMetaObject::invokeMethod(
            this, [this, name = QString::fromUtf8(phase), fraction] { emit progressed(phase_text(name), fraction); },
            Qt::QueuedConnection);
    };
    job->thread.reset(QThread::create([this, raw = job.get(), path] {
        auto result = std::make_shared<Result<Opened>>(load_trace(path, raw->progress));
        QMetaObject::invokeMethod(
            this,
            [this, result] {
                job_->thread->wait();
                job_.reset();
                if (*result) {
                    emit opened(**result);
                } else if (result->error().kind == ErrorKind::canceled) {
                    emit canceled();
                } else {
                    emit failed(error_text(result->error()));
                }
            },
            Qt::QueuedConnection);
    }));
    job->thread->start();
}

QString phase_text(const QString& phase) {
    static const char* const known[][2] = {
        {"reading", QT_TRANSLATE_NOOP("Loader", "Reading the file")},
        {"deriving", QT_TRANSLATE_NOOP("Loader", "Replaying the events")},
        {"writing", QT_TRANSLATE_NOOP("Loader", "Writing the trace")},
        {"checking", QT_TRANSLATE_NOOP("Loader", "Checking the file")},
        {"opening", QT_TRANSLATE_NOOP("Loader", "Opening the trace")},
        {"loading", QT_TRANSLATE_NOOP("Loader", "Loading allocations")},
        {"analyzing", QT_TRANSLATE_NOOP("Loader", "Preparing the plots")},
    };
    for (const auto& [name, text] : known) {
        if (phase == QLatin1String(name)) {
            return translated(text);
        }
    }
    return phase;
}

}  // namespace tidemark::gui
