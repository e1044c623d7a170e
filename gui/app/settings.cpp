// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/settings.h"

#include <QFileInfo>

#include "gui/model/file_name.h"

namespace tidemark::gui {

namespace {
constexpr int most_recent_files = 10;
const QString recent_key = QStringLiteral("recent_files");
const QString summaries_key = QStringLiteral("recent_summaries");

/// The key of a file's summary: a settings file cannot contain a name that is not UTF-8.
QString summary_key(const QString& path) {
    return QString::fromLatin1(QByteArray::fromStdString(bytes_of_file_name(path)).toPercentEncoding());
}

}  // namespace

Settings::Settings(Storage storage) {
    if (storage == Storage::on_disk) {
        disk_ = std::make_unique<QSettings>(QStringLiteral("tidemark"), QStringLiteral("tidemark-gui"));
    }
}

QVariant Settings::value(const QString& key, const QVariant& fallback) const {
    return disk_ ? disk_->value(key, fallback) : memory_.value(key, fallback);
}

void Settings::set(const QString& key, const QVariant& value) {
    if (disk_) {
        disk_->setValue(key, value);
    } else {
        memory_.insert(key, value);
    }
}

// As bytes: a settings file cannot contain a name that is not UTF-8.
QStringList Settings::recent_files() const {
    QStringList files;
    for (const QVariant& file : value(recent_key).toList()) {
        files << file_name_from_bytes(file.toByteArray().toStdString());
    }
    return files;
}

void Settings::set_recent_files(const QStringList& files) {
    QVariantList stored;
    QVariantMap summaries;
    const QVariantMap old = value(summaries_key).toMap();
    for (const QString& file : files.mid(0, most_recent_files)) {
        stored << QByteArray::fromStdString(bytes_of_file_name(file));
        if (const QString key = summary_key(file); old.contains(key)) {
            summaries.insert(key, old.value(key));
        }
    }
    set(recent_key, stored);
    set(summaries_key, summaries);
}

void Settings::remember_file(const QString& path) {
    QStringList files = recent_files();
    const QString absolute = QFileInfo(path).absoluteFilePath();
    files.removeAll(absolute);
    files.prepend(absolute);
    set_recent_files(files);
}

void Settings::forget_file(const QString& path) {
    QStringList files = recent_files();
    files.removeAll(path);
    set_recent_files(files);
}

void Settings::forget_recent_files() { set_recent_files({}); }

FileSummary Settings::summary_of(const QString& path) const {
    const QVariantMap stored = value(summaries_key).toMap().value(summary_key(path)).toMap();
    const auto text = [&](const char* name) { return stored.value(QLatin1String(name)).toString(); };
    return {text("headline"),
            text("severity"),
            text("device"),
            stored.value(QStringLiteral("peak_bytes")).toLongLong(),
            stored.value(QStringLiteral("recorded_time")).toLongLong(),
            text("language")};
}

void Settings::remember_summary(const QString& path, const FileSummary& summary) {
    const QString absolute = QFileInfo(path).absoluteFilePath();
    if (!recent_files().contains(absolute) || summary_of(absolute) == summary) {
        return;
    }
    QVariantMap summaries = value(summaries_key).toMap();
    summaries.insert(summary_key(absolute), QVariantMap{{QStringLiteral("headline"), summary.headline},
                                                        {QStringLiteral("severity"), summary.severity},
                                                        {QStringLiteral("device"), summary.device},
                                                        {QStringLiteral("peak_bytes"), summary.peak_bytes},
                                                        {QStringLiteral("recorded_time"), summary.recorded_time},
                                                        {QStringLiteral("language"), summary.language}});
    set(summaries_key, summaries);
}

}  // namespace tidemark::gui
