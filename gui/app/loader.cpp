// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/loader.h"

#include <unistd.h>

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>
#include <QThread>
#include <array>
#include <filesystem>

#include "gui/model/file_name.h"
#include "gui/model/text.h"
#include "storage/base/part_file.h"
#include "storage/base/regular_file.h"
#include "storage/import/import.h"

namespace tidemark::gui {

namespace {

namespace fs = std::filesystem;

/// Translates a text marked by QT_TRANSLATE_NOOP("Loader", ...).
QString translated(const char* text) { return QCoreApplication::translate("Loader", text); }

fs::path path_of(const QString& name) { return bytes_of_file_name(name); }

bool looks_like_trace(const QString& path) {
    constexpr std::string_view magic("SQLite format 3\0", 16);
    const auto file = open_regular_file(bytes_of_file_name(path));
    std::array<char, magic.size()> start{};
    return file && ::read(file->get(), start.data(), start.size()) == static_cast<ssize_t>(start.size()) &&
           std::string_view(start.data(), start.size()) == magic;
}

bool folder_writable(const QString& folder) {
    const std::string target = bytes_of_file_name(folder + QStringLiteral("/.tidemark"));
    return PartFile::create(target, IfExists::replace, FileAccess::owner).has_value();
}

bool newer(const QString& file, const QString& than) {
    std::error_code missing, other;
    const auto time = fs::last_write_time(path_of(file), missing),
               other_time = fs::last_write_time(path_of(than), other);
    return !missing && !other && time >= other_time;
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
    auto follower = TraceFollower::open(bytes_of_file_name(path));
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
    return input_error("{path} is being written and is still empty. Open it again when the program has used the GPU.",
                       with("path", bytes_of_file_name(path)));
}

Result<Opened> open_as_session(const QString& path, Progress& progress) {
    if (is_being_written(bytes_of_file_name(path))) {
        return open_followed(path, progress);
    }
    return as_session(open_trace(bytes_of_file_name(path), progress), path, progress);
}

}  // namespace

QStringList trace_filters() {
    return {Loader::tr("Traces and snapshots (*.tide *.pickle *.pkl *.gz *.xz *.zst)"), Loader::tr("All files (*)")};
}

ImportPlace import_place(const QString& snapshot) {
    const QFileInfo info(snapshot);
    const QString beside = file_name_from_bytes(trace_path_for(bytes_of_file_name(info.absoluteFilePath())));
    const QString name = QFileInfo(beside).fileName();
    if (newer(beside, snapshot) && looks_like_trace(beside)) {
        return {beside, false, true};
    }
    const QByteArray id =
        QCryptographicHash::hash(QByteArray::fromStdString(bytes_of_file_name(info.absoluteFilePath())),
                                 QCryptographicHash::Sha1)
            .toHex()
            .left(10);
    const QString cache = QStandardPaths::writableLocation(QStandardPaths::CacheLocation) + QStringLiteral("/imports");
    const QString cached = cache + '/' + QString::fromLatin1(id) + '-' + name;
    if (newer(cached, snapshot) && looks_like_trace(cached)) {
        return {cached, true, true};
    }
    // An older file of that name, or one that is no trace, may be the user's work, so it is not overwritten.
    if (folder_writable(info.absolutePath()) && !fs::exists(fs::symlink_status(path_of(beside)))) {
        return {beside, false, false};
    }
    return {cached, true, false};
}

Result<Opened> load_trace(const QString& path, Progress& progress) {
    if (const auto file = open_regular_file(bytes_of_file_name(path)); !file) {
        return file.error();
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
            std::error_code ignored;
            fs::remove(path_of(place.path), ignored);
        }
        place = {QStandardPaths::writableLocation(QStandardPaths::CacheLocation) + QStringLiteral("/imports/again-") +
                     QFileInfo(place.path).fileName(),
                 true, false};
    }
    if (place.in_cache) {
        QDir().mkpath(QFileInfo(place.path).absolutePath());
    }
    const auto if_exists = place.in_cache ? IfExists::replace : IfExists::fail;
    auto opened =
        as_session(import_snapshot(bytes_of_file_name(path), bytes_of_file_name(place.path), if_exists, progress),
                   place.path, progress);
    if (opened && place.in_cache) {
        opened->note =
            translated(QT_TRANSLATE_NOOP("Loader", "The snapshot's folder was not changed. The imported trace is %1"))
                .arg(shown_file_name(place.path));
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
