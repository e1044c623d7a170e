// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/source/source_places.h"

#include <QProcess>
#include <algorithm>

#include "gui/model/file_name.h"
#include "storage/attribution/source_file.h"

namespace tidemark::gui {

namespace {
constexpr qsizetype most_moved_folders = 20;
}  // namespace

std::string SourcePlaces::path_of(const std::string& file) const {
    for (qsizetype i = 0; i + 1 < moved_.size(); i += 2) {
        const std::string moved = moved_path(file, bytes_of_file_name(moved_[i]), bytes_of_file_name(moved_[i + 1]));
        if (moved != file && is_source_file(moved)) {
            return moved;
        }
    }
    return file;
}

bool SourcePlaces::find_in(const std::string& file, const std::string& folder) {
    // "/home/anna/project/train.py": with the longest rest that exists, from "home/anna/..." to "train.py".
    for (size_t slash = file.find('/'); slash != std::string::npos; slash = file.find('/', slash + 1)) {
        const std::string recorded = slash == 0 ? "/" : file.substr(0, slash);
        const std::string moved = moved_path(file, recorded, folder);
        if (moved != file && is_source_file(moved)) {
            moved_ = QStringList{file_name_from_bytes(recorded), file_name_from_bytes(folder)} + moved_;
            moved_ = moved_.first(std::min(moved_.size(), 2 * most_moved_folders));
            return true;
        }
    }
    return false;
}

void SourcePlaces::set_moved_folders(const QStringList& folders) {
    moved_ = folders.first(std::min(folders.size() - folders.size() % 2, 2 * most_moved_folders));
}

QStringList editor_arguments(const QString& command, const QString& file, int line) {
    QStringList arguments = QProcess::splitCommand(command);
    if (arguments.filter(QStringLiteral("{file}")).isEmpty()) {
        return {};
    }
    for (QString& argument : arguments) {
        // The file's name comes last: it may contain "{line}".
        argument.replace(QStringLiteral("{line}"), QString::number(line)).replace(QStringLiteral("{file}"), file);
    }
    return arguments;
}

bool open_in_editor(const QString& command, const QString& file, int line) {
    if (!is_source_file(bytes_of_file_name(file))) {
        return false;
    }
    QStringList arguments =
        command.isEmpty() ? QStringList{QStringLiteral("xdg-open"), file} : editor_arguments(command, file, line);
    if (arguments.isEmpty()) {
        return false;
    }
    const QString program = arguments.takeFirst();
    return QProcess::startDetached(program, arguments);
}

}  // namespace tidemark::gui
