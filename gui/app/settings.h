// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Settings that persist between runs. Tests and --render use settings in memory only.
#pragma once

#include <QHash>
#include <QSettings>
#include <QStringList>
#include <QVariant>
#include <memory>

namespace tidemark::gui {

class Settings {
public:
    enum class Storage { on_disk, in_memory };
    explicit Settings(Storage storage);

    QVariant value(const QString& key, const QVariant& fallback = {}) const;
    void set(const QString& key, const QVariant& value);

    QStringList recent_files() const;
    void remember_file(const QString& path);
    void forget_recent_files();

private:
    std::unique_ptr<QSettings> disk_;
    QHash<QString, QVariant> memory_;
};

}  // namespace tidemark::gui
