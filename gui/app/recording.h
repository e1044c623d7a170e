// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A program that is recorded: the `tidemark record` that runs it, and the traces of its processes.
#pragma once

#include <QFile>
#include <QObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTimer>
#include <vector>

namespace tidemark::gui {

/// The command-line tool that records.
struct TidemarkCommand {
    QString path;        ///< empty: not found
    QStringList looked;  ///< the files that would have been it, besides PATH
};

/// Finds it beside this program in `program_folder`, in the build tree of this program, or in PATH.
TidemarkCommand find_tidemark(const QString& program_folder);

/// What a recording needs on this machine.
struct RecordPart {
    QString name;   ///< "torch"
    QString title;  ///< "PyTorch"; may be empty
    bool available = true;
    QString sentence;  ///< what was found, or why it cannot work and the fix
};
/// Parses the output of `tidemark doctor --format json`, without the parts for other commands; nothing if it
/// is no list of parts.
std::vector<RecordPart> read_parts(const QByteArray& json);

/// Returns the option with which `tidemark` speaks the language of the window.
QStringList language_option();

struct RecordRequest {
    QStringList command;  ///< program and arguments
    QString folder;       ///< the working folder
    QString output;
    QStringList parts;
};

/// A recorded process, as its recorder reports it in the session folder.
struct RecordedProcess {
    qint64 pid = 0;
    QString trace, state, how_ended;
    qint64 events = 0;
    QStringList data_gaps;
    bool recording() const { return state == QLatin1String("recording"); }
    bool operator==(const RecordedProcess&) const = default;
};

/// One run of a program. Thread: GUI.
class Recording : public QObject {
    Q_OBJECT
public:
    explicit Recording(const QString& tidemark, QObject* parent = nullptr);
    /// Detaches the recording, which continues without the window.
    ~Recording() override;

    void start(const RecordRequest& request);
    /// Ends the traces; the program continues.
    void stop_recording();
    /// Sends SIGTERM to all its processes; with `kill` SIGKILL.
    void end_program(bool kill);

    bool running() const { return process_->state() != QProcess::NotRunning; }
    bool stop_requested() const { return stop_requested_; }
    const std::vector<RecordedProcess>& processes() const { return processes_; }
    bool any_recording() const;

signals:
    void output(const QString& text);  ///< of the program and of `tidemark record`
    void changed();                    ///< the processes or their states
    void trace_ready(const QString& path);
    void finished(const QString& how);  ///< the program's end, as a sentence
    void failed(const QString& sentence);

private:
    void poll();
    void read_log();
    std::vector<RecordedProcess> read_processes() const;
    void handle_end(int code, QProcess::ExitStatus status);

    QString tidemark_;
    QTemporaryDir session_;
    QProcess* process_;
    QFile log_;  ///< the output; a file, so that the program does not depend on the window
    QTimer timer_;
    std::vector<RecordedProcess> processes_;
    QStringList ready_;
    bool stop_requested_ = false;
};

}  // namespace tidemark::gui
