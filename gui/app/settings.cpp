// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/settings.h"

#include <QFileInfo>

#include "gui/model/file_name.h"

namespace tidemark::gui {

namespace {
constexpr int most_recent_files = 10;
const QString recent_key = QStringLiteral("recent_files");
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

void Settings::remember_file(const QString& path) {
    QStringList files = recent_files();
    const QString absolute = QFileInfo(path).absoluteFilePath();
    files.removeAll(absolute);
    files.prepend(absolute);
    QVariantList stored;
    for (const QString& file : files.mid(0, most_recent_files)) {
        stored << QByteArray::fromStdString(bytes_of_file_name(file));
    }
    set(recent_key, stored);
}

void Settings::forget_recent_files() { set(recent_key, QStringList()); }

}  // namespace tidemark::gui
