// Why the memory of a session's device is as it is: found in the background, from the analysis and the graph.
#pragma once

#include <QObject>
#include <QString>
#include <map>
#include <memory>

#include "gui/model/latest_only.h"

namespace tidemark {
enum class Language : uint8_t;
}

namespace tidemark::gui {

class Session;
struct Explained;

/// Of the device on show. A run that goes on is explained when somebody asks and when it has ended, never by itself.
/// Lives on the GUI thread.
class ExplanationSource : public QObject {
    Q_OBJECT
public:
    enum class State { not_asked, working, ready, failed };

    explicit ExplanationSource(Session& session);
    ~ExplanationSource() override;

    State state() const;
    double fraction() const;
    QString problem() const;
    /// Of the device on show; null until it is found. While it is looked for anew, the one before.
    std::shared_ptr<const Explained> explained() const;
    /// Whether the explanation is of the trace as it is now.
    bool is_current() const;

    /// From now on there is an explanation of whatever device is on show, in the language of the window.
    void want();
    /// Also of a run that goes on, as far as it is known.
    void explain_now();
    /// The language in which findings are told here.
    static tidemark::Language language();

    /// The finding everybody looks at, or -1: a position in Explanation::findings.
    int selected() const { return selected_; }
    void select(int finding);

signals:
    void changed();  ///< there is another explanation on show, or none
    void state_changed();
    void selected_changed();

private:
    void show_device();
    void end_of_run();
    void graph_ready();
    void start();
    void take(const std::shared_ptr<const Explained>& explained);

    Session& session_;
    bool wanted_ = false, awaits_graph_ = false;
    int selected_ = -1;
    std::map<int, std::shared_ptr<const Explained>> explained_;  // by position of the device
    LatestOnly<Explained> task_;
};

}  // namespace tidemark::gui
