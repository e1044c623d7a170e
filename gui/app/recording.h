// A program being recorded: the `tidemark record` that runs it, and the traces its processes write.
#pragma once

#include <QFile>
#include <QObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTimer>
#include <vector>

namespace tidemark::gui {

/// The command line tool: beside this program, or in PATH; empty if there is none.
QString find_tidemark();

/// A part of a recording, or something it needs on this machine.
struct RecordPart {
    QString name;   ///< of a part as `--with` takes it: "stacks"
    QString title;  ///< of what is needed: "C++ compiler"; may be empty
    bool available = true;
    QString sentence;  ///< what it adds, or why it cannot work and what would help
};
/// What `tidemark record --check --format json` prints; nothing if that is no list of parts.
std::vector<RecordPart> read_parts(const QByteArray& json);

struct RecordRequest {
    QStringList command;  ///< program and arguments
    QString folder;       ///< where it runs
    QString output;
    QStringList parts;
};

/// A recorded process, as its recorder tells it in the session folder.
struct RecordedProcess {
    qint64 pid = 0;
    QString trace, state, how_ended;
    qint64 events = 0;
    QStringList data_gaps;
    bool recording() const { return state == QLatin1String("recording"); }
    bool operator==(const RecordedProcess&) const = default;
};

/// One run of a program. Lives on the GUI thread.
class Recording : public QObject {
    Q_OBJECT
public:
    explicit Recording(const QString& tidemark, QObject* parent = nullptr);
    /// Recording goes on without the window: the program is left alone.
    ~Recording() override;

    void start(const RecordRequest& request);
    /// The program goes on; its traces end.
    void stop_recording();
    /// Signals everything that was started. `kill`: without a chance to clean up.
    void end_program(bool kill);

    bool running() const { return process_->state() != QProcess::NotRunning; }
    bool stop_asked() const { return stop_asked_; }
    const std::vector<RecordedProcess>& processes() const { return processes_; }
    bool any_recording() const;

signals:
    void output(const QString& text);  ///< of the program and of `tidemark record`
    void changed();                    ///< the processes, or what they do
    void trace_ready(const QString& path);
    void finished(const QString& how);  ///< the program's end, as a sentence
    void failed(const QString& sentence);

private:
    void look();
    void read_log();
    std::vector<RecordedProcess> read_processes() const;
    void note_end(int code, QProcess::ExitStatus status);

    QString tidemark_;
    QTemporaryDir session_;
    QProcess* process_;
    QFile log_;  ///< what was printed; a file, so that the program neither waits for the window nor needs it
    QTimer timer_;
    std::vector<RecordedProcess> processes_;
    QStringList ready_;
    bool stop_asked_ = false;
};

}  // namespace tidemark::gui
