// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/settings.h"

#include <QFileInfo>

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

QStringList Settings::recent_files() const { return value(recent_key).toStringList(); }

void Settings::remember_file(const QString& path) {
    QStringList files = recent_files();
    const QString absolute = QFileInfo(path).absoluteFilePath();
    files.removeAll(absolute);
    files.prepend(absolute);
    set(recent_key, files.mid(0, most_recent_files));
}

void Settings::forget_recent_files() { set(recent_key, QStringList()); }

}  // namespace tidemark::gui
