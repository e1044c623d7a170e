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

/// What the start page says about a file: of its last explanation.
struct FileSummary {
    QString headline;  ///< empty: never explained
    QString severity;  ///< severity_word() of the first finding; empty: no finding but background
    QString device;
    qint64 peak_bytes = 0;     ///< allocated
    qint64 recorded_time = 0;  ///< ms since 1970, UTC; 0: unknown
    QString language = {};     ///< of the headline: language_name()
    bool operator==(const FileSummary&) const = default;
};

class Settings {
public:
    enum class Storage { on_disk, in_memory };
    explicit Settings(Storage storage);

    QVariant value(const QString& key, const QVariant& fallback = {}) const;
    void set(const QString& key, const QVariant& value);

    QStringList recent_files() const;
    void remember_file(const QString& path);
    void forget_file(const QString& path);
    void forget_recent_files();
    /// Of a recent file; empty for others.
    FileSummary summary_of(const QString& path) const;
    /// Does nothing for a file that is not among the recent ones.
    void remember_summary(const QString& path, const FileSummary& summary);

private:
    void set_recent_files(const QStringList& files);

    std::unique_ptr<QSettings> disk_;
    QHash<QString, QVariant> memory_;
};

}  // namespace tidemark::gui
