// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The explanation of a device's memory, made in the background from the analysis and the graph.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <map>
#include <memory>

#include "gui/model/latest_only.h"

namespace tidemark {
enum class Language : uint8_t;
}

namespace tidemark::gui {

class Session;
struct Explained;

/// Explains the selected device. A growing run is explained on request, as it grows, and when it has ended.
/// Thread: GUI.
class ExplanationSource : public QObject {
    Q_OBJECT
public:
    enum class State { not_requested, working, ready, failed };

    explicit ExplanationSource(Session& session);
    ~ExplanationSource() override;

    State state() const;
    double fraction() const;
    QString problem() const;
    /// Returns the explanation of the selected device; null until it exists. The previous one
    /// stays until a new one is ready.
    std::shared_ptr<const Explained> explained() const;
    /// Returns whether the explanation is of the current trace.
    bool is_current() const;

    /// Starts to explain every device that is selected, in the language of the window.
    void request();
    /// Explains now, also a growing run as far as it is recorded.
    void explain_now();
    /// Explains a growing run again if it is longer by half, at least by 5 s: in a long run, that costs little.
    void explain_growth();
    /// Returns the language of the findings.
    static tidemark::Language language();

    /// Returns the selected finding as a position in Explanation::findings, or -1.
    int selected() const { return selected_; }
    void select(int finding);

signals:
    void changed();  ///< another explanation is shown, or none
    void state_changed();
    void selected_changed();

private:
    void show_device();
    void end_of_run();
    void graph_ready();
    void start();
    void take(const std::shared_ptr<const Explained>& explained);

    Session& session_;
    bool requested_ = false, awaits_graph_ = false;
    int selected_ = -1;
    int64_t explained_until_ = 0;                                ///< ns since trace start: how long the run was
    std::map<int, std::shared_ptr<const Explained>> explained_;  // by position of the device
    LatestOnly<Explained> task_;
};

}  // namespace tidemark::gui
