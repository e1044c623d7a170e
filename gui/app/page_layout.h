// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The arrangement of a trace page: the story, the stage with the plots above the drawer of panes, the inspector.
#pragma once

#include <QByteArray>
#include <QWidget>
#include <vector>

class QSplitter;
class QTabWidget;

namespace tidemark::gui {

class Settings;
class UprightButton;

class PageLayout : public QWidget {
    Q_OBJECT
public:
    struct Parts {
        QWidget *story, *plots;
        QTabWidget* drawer;
        QWidget* inspector;
        std::vector<QWidget*>
            spacious;  ///< panes of the drawer of which a low window shows too little beside the plots
    };
    /// Takes ownership of the parts.
    explicit PageLayout(Parts parts, QWidget* parent = nullptr);

    /// Whether the user wants the story. A window that becomes narrow hides it; if shown there, it covers the stage.
    void set_story(bool wanted);
    bool wants_story() const { return wants_story_; }
    bool shows_story() const { return shows_story_; }
    bool story_covers_stage() const { return shows_story_ && is_narrow_; }
    void set_inspector(bool shown);
    bool shows_inspector() const { return shows_inspector_; }
    /// Whether the drawer takes the place of the plots, too.
    void set_drawer_fills_stage(bool fills);
    bool drawer_fills_stage() const { return drawer_fills_stage_; }
    /// Whether the window is so low that a spacious pane fills the stage while it is open.
    bool is_low() const;

    void save(Settings& settings) const;
    void restore(const Settings& settings);

signals:
    void changed();  ///< a part was shown or hidden

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void show_story(bool shown);
    void place_story();
    void give_room();
    void share_height();
    QByteArray& heights_of(bool is_low) { return is_low ? low_heights_ : heights_; }

    Parts parts_;
    QSplitter* stage_;
    QSplitter* columns_;
    UprightButton* story_strip_;  ///< shown while the story is hidden or covers the stage
    bool wants_story_ = true, shows_story_ = true, shows_inspector_ = false, drawer_fills_stage_ = false;
    bool fills_for_room_ = false;  ///< the drawer, since a spacious pane is open; not by the user's wish
    bool is_narrow_ = false;
    bool stage_is_low_ = false;         ///< since the last resize
    QByteArray heights_, low_heights_;  ///< of the stage, in high windows and in low ones; empty: not yet known
};

}  // namespace tidemark::gui
