// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Where source files of recorded programs are on this machine, and the editor that opens them.
#pragma once

#include <QStringList>
#include <string>

namespace tidemark::gui {

class SourcePlaces {
public:
    /// Returns where a file, as stacks name it, may be on this machine. It need not exist.
    std::string path_of(const std::string& file) const;
    /// Finds the file in a folder of this machine: with as many of its recorded folders as exist there. Remembers for
    /// all files what the place of this one shows. Returns false if the folder has no such file.
    bool find_in(const std::string& file, const std::string& folder);

    /// What settings store: the recorded and the local folder in turn.
    QStringList moved_folders() const { return moved_; }
    void set_moved_folders(const QStringList& folders);

private:
    QStringList moved_;  ///< the newest first
};

/// Returns the program and its arguments that open a line of a file. `command`: a command line in which {file} and
/// {line} are replaced; it is split into arguments first, so that no name of a file becomes more than one argument or
/// part of a shell's command. Empty if the command has no {file}.
QStringList editor_arguments(const QString& command, const QString& file, int line);

/// Opens a line of a source file: with the command, or with the desktop's program for such files if it is empty. Only
/// regular files with the name of a source are opened. Returns whether a program was started.
bool open_in_editor(const QString& command, const QString& file, int line);

}  // namespace tidemark::gui
