// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The actions of the window, and when each is enabled.
#include <QActionGroup>
#include <QApplication>
#include <QMenu>
#include <QStatusBar>
#include <algorithm>

#include "gui/app/command_palette.h"
#include "gui/app/main_window.h"
#include "gui/model/grouping.h"

namespace tidemark::gui {

namespace {

constexpr double key_zoom = 1.6;
constexpr double key_pan = 0.15;

QKeySequence key(int k) { return QKeySequence(k); }

/// Returns the prefixes of the actions that need a trace.
const QStringList& needs_trace() {
    static const QStringList prefixes = {QStringLiteral("plots."),  QStringLiteral("go."),    QStringLiteral("export."),
                                         QStringLiteral("copy."),   QStringLiteral("group."), QStringLiteral("color."),
                                         QStringLiteral("axis."),   QStringLiteral("table."), QStringLiteral("notes."),
                                         QStringLiteral("compare.")};
    return prefixes;
}

}  // namespace

void MainWindow::make_actions() {
    actions_->set_plots(page_->plots());
    make_file_menu();
    make_view_menu();
    make_axis_menus();
    make_go_menu();
    make_compare_menu();
    make_help_menu();
    actions_->show_as_buttons({{QStringLiteral("compare.trace"), tr("Compare…")},
                               {QStringLiteral("file.share"), tr("Share…")},
                               {QStringLiteral("help.commands"), tr("Search commands…")}});
}

void MainWindow::make_file_menu() {
    actions_->begin_menu(tr("&File"));
    actions_->add(QStringLiteral("file.open"), tr("&Open…"), {QKeySequence::Open}, [this] { ask_for_file(); });
    actions_->add(QStringLiteral("file.open_job"), tr("Open &job…"), {}, [this] { ask_for_job(); });
    actions_->add(QStringLiteral("file.record"), tr("&Record…"), {QKeySequence(QStringLiteral("Ctrl+R"))},
                  [this] { show_record_dialog(); });
    recent_menu_ = actions_->menu()->addMenu(tr("Open &recent"));
    connect(recent_menu_, &QMenu::aboutToShow, this, &MainWindow::fill_recent_menu);
    actions_->add(QStringLiteral("file.reload"), tr("Re&load"), {key(Qt::Key_F5)}, [this] { reload(); });
    actions_->separator();
    actions_->begin_submenu(tr("&Export picture"));
    for (const Exportable& what : exportables()) {
        actions_->add(QStringLiteral("export.") + what.id, tr("%1…").arg(what.name), {},
                      [this, what] { export_picture(what); });
    }
    actions_->end_submenu();
    actions_->begin_submenu(tr("&Copy picture"));
    for (const Exportable& what : exportables()) {
        actions_->add(QStringLiteral("copy.") + what.id, what.name, {}, [this, what] { copy_picture(what); });
    }
    actions_->end_submenu();
    actions_->begin_submenu(tr("Export &table"));
    actions_->add(QStringLiteral("export.table"), tr("Allocation table…"), {}, [this] {
        page_->show_pane(page_->table());  // its last line shows the progress
        page_->table().ask_export();
    });
    actions_->add(QStringLiteral("export.summary"), tr("Summary table…"), {}, [this] {
        export_table(QStringLiteral("summary"), [this](const QString& path) { page_->summary().export_csv(path); });
    });
    actions_->add(QStringLiteral("export.breakdown_table"), tr("Memory breakdown at the cursor…"), {}, [this] {
        export_table(QStringLiteral("breakdown"), [this](const QString& path) { page_->breakdown().export_csv(path); });
    });
    actions_->end_submenu();
    actions_->begin_submenu(tr("Copy ta&ble"));
    const auto add_copy = [this](const char* id, const QString& text, auto copy) {
        actions_->add(QString::fromLatin1(id), text, {}, [this, copy] {
            page_->show_pane(page_->table());
            copy(page_->table());
        });
    };
    add_copy("table.rows_csv", tr("Selected allocations as CSV"),
             [](AllocationTable& table) { table.copy_selection_as_csv(); });
    add_copy("table.rows_markdown", tr("Selected allocations as Markdown"),
             [](AllocationTable& table) { table.copy_selection_as_markdown(); });
    add_copy("table.all_csv", tr("All allocations as CSV"),
             [](AllocationTable& table) { table.copy_all(TableFormat::csv); });
    add_copy("table.all_markdown", tr("All allocations as Markdown"),
             [](AllocationTable& table) { table.copy_all(TableFormat::markdown); });
    actions_->end_submenu();
    actions_->add(QStringLiteral("why.save"), tr("Save e&xplanation…"), {}, [this] { save_explanation(); });
    actions_->add(QStringLiteral("why.copy"), tr("Copy explanation"), {QKeySequence(QStringLiteral("Ctrl+Shift+C"))},
                  [this] {
                      page_->why().copy_text();
                      statusBar()->showMessage(tr("%1 copied").arg(tr("Explanation")), 3000);
                  });
    actions_->add(QStringLiteral("file.share"), tr("&Share…"), {}, [this] { show_share_dialog(); });
    actions_->separator();
    actions_->add(QStringLiteral("file.about_trace"), tr("Trace &information"),
                  {QKeySequence(QStringLiteral("Ctrl+I"))}, [this] { page_->show_trace_information(); });
    actions_->separator();
    actions_->add(QStringLiteral("file.close"), tr("&Close"), {QKeySequence(QStringLiteral("Ctrl+W"))},
                  [this] { close_trace(); });
    actions_->add(QStringLiteral("file.quit"), tr("&Quit"), {QKeySequence(QStringLiteral("Ctrl+Q"))},
                  [this] { application_.close_all_windows(); });
}

void MainWindow::make_view_menu() {
    using Where = Actions::Keys;
    actions_->begin_menu(tr("&View"));
    actions_->add(QStringLiteral("plots.zoom_in"), tr("Zoom in at the pointer"), {key(Qt::Key_W), key(Qt::Key_Plus)},
                  [this] { page_->zoom(key_zoom); });
    actions_->add(QStringLiteral("plots.zoom_out"), tr("Zoom out"), {key(Qt::Key_S), key(Qt::Key_Minus)},
                  [this] { page_->zoom(1 / key_zoom); });
    actions_->add(QStringLiteral("plots.left"), tr("Pan left"), {key(Qt::Key_A)}, [this] { page_->pan(-key_pan); });
    actions_->add(QStringLiteral("plots.right"), tr("Pan right"), {key(Qt::Key_D)}, [this] { page_->pan(key_pan); });
    actions_->add_plot_keys(QStringLiteral("plots.left"), {key(Qt::Key_Left)});
    actions_->add_plot_keys(QStringLiteral("plots.right"), {key(Qt::Key_Right)});
    actions_->add(
        QStringLiteral("plots.page_left"), tr("Page left"), {key(Qt::Key_PageUp)}, [this] { page_->pan(-0.9); },
        Where::plots);
    actions_->add(
        QStringLiteral("plots.page_right"), tr("Page right"), {key(Qt::Key_PageDown)}, [this] { page_->pan(0.9); },
        Where::plots);
    actions_->add(QStringLiteral("plots.focus"), tr("Zoom to the selection"), {key(Qt::Key_F)},
                  [this] { page_->focus(); });
    actions_->add(QStringLiteral("plots.whole"), tr("Show the whole run"), {key(Qt::Key_H)},
                  [this] { page_->show_all(); });
    actions_->add_plot_keys(QStringLiteral("plots.whole"), {key(Qt::Key_Home)});
    actions_->add(QStringLiteral("plots.busy"), tr("Show the busy part of the run"), {key(Qt::Key_B)},
                  [this] { page_->session()->show_busy_part(); });
    actions_->add(QStringLiteral("plots.undo"), tr("Undo zoom"),
                  {QKeySequence(QStringLiteral("Ctrl+Z")), key(Qt::Key_Backspace)},
                  [this] { page_->session()->time_view().undo(); });
    actions_->add(QStringLiteral("plots.redo"), tr("Redo zoom"),
                  {QKeySequence(QStringLiteral("Ctrl+Shift+Z")), QKeySequence(QStringLiteral("Ctrl+Y"))},
                  [this] { page_->session()->time_view().redo(); });
    actions_->separator();
    QAction* why = actions_->add(QStringLiteral("view.why"), tr("Why"), {key(Qt::Key_Y)}, [] {});
    why->setCheckable(true);
    connect(why, &QAction::triggered, &page_->arrangement(), &PageLayout::set_story);
    QAction* details = actions_->add(QStringLiteral("view.details"), tr("Details"), {key(Qt::Key_I)}, [] {});
    details->setCheckable(true);
    connect(details, &QAction::triggered, &page_->arrangement(), &PageLayout::set_inspector);
    QAction* fill = actions_->add(QStringLiteral("view.fill_stage"), tr("Open pane in place of the plots"),
                                  {key(Qt::Key_M)}, [] {});
    fill->setCheckable(true);
    connect(fill, &QAction::triggered, &page_->arrangement(), &PageLayout::set_drawer_fills_stage);
    actions_->add(QStringLiteral("go.explain"), tr("Explain now"), {}, [this] { page_->why().explain_now(); });
    actions_->separator();
    const auto tail = [this](bool on) {
        if (Session* session = page_->session()) {
            session->time_view().follow_tail(on);
        }
    };
    QAction* follow =
        actions_->add(QStringLiteral("live.tail"), tr("Follow the end of the recording"), {key(Qt::Key_T)}, [] {});
    follow->setCheckable(true);
    connect(follow, &QAction::triggered, this, tail);
    QAction* freeze = actions_->add(QStringLiteral("live.freeze"), tr("Freeze the window"),
                                    {QKeySequence(QStringLiteral("Shift+T"))}, [] {});
    freeze->setCheckable(true);
    connect(freeze, &QAction::triggered, this, [this](bool on) {
        if (LiveView* live = page_->live()) {
            live->set_frozen(on);
        }
    });
    actions_->separator();
    QAction* wheel = actions_->add(QStringLiteral("view.wheel"), tr("Wheel zooms (Ctrl+wheel scrolls)"), {}, [] {});
    wheel->setCheckable(true);
    wheel->setChecked(application_.settings().value(QStringLiteral("wheel_zooms"), false).toBool());
    connect(wheel, &QAction::toggled, this, [this](bool zooms) {
        application_.settings().set(QStringLiteral("wheel_zooms"), zooms);
        page_->set_wheel_mode(zooms ? WheelMode::zooms : WheelMode::scrolls);
    });
    actions_->separator();
    actions_->begin_submenu(tr("&Theme"));
    auto* themes = new QActionGroup(this);
    for (const auto& [choice, text] :
         {std::pair(ThemeSetting::system, tr("System")), std::pair(ThemeSetting::light, tr("Light")),
          std::pair(ThemeSetting::dark, tr("Dark"))}) {
        actions_->add_choice(themes, QStringLiteral("theme.") + theme_name(choice), text,
                             application_.theme() == choice, [this, theme = choice] { application_.set_theme(theme); });
    }
    actions_->end_submenu();
    actions_->begin_submenu(tr("&Language"));
    auto* codes = new QActionGroup(this);
    for (const Language& language : languages()) {
        actions_->add_choice(codes, QStringLiteral("language.") + language.code, language.name,
                             application_.language() == language.code,
                             [this, code = language.code] { application_.set_language(code); });
    }
    actions_->end_submenu();
}

void MainWindow::make_axis_menus() {
    actions_->begin_submenu(tr("&Stack by"));
    auto* groups = new QActionGroup(this);
    const auto& choices = group_options();
    for (size_t i = 0; i < choices.size(); ++i) {
        actions_->add_choice(groups, QStringLiteral("group.%1").arg(i), group_option_name(choices[i]), i == 0,
                             [this, i] { page_->set_group_by(group_options()[i]); });
    }
    actions_->end_submenu();
    actions_->begin_submenu(tr("&Color allocations by"));
    auto* colors = new QActionGroup(this);
    const QStringList names = {tr("group"), tr("stack"), tr("size"), tr("age"), tr("stream")};
    for (int i = 0; i < names.size(); ++i) {
        actions_->add_choice(colors, QStringLiteral("color.%1").arg(i), names[i], i == 0,
                             [this, i] { page_->set_color_by(static_cast<ColorBy>(i)); });
    }
    actions_->end_submenu();
    actions_->begin_submenu(tr("Time &axis"));
    auto* axes = new QActionGroup(this);
    const QStringList units = {tr("wall clock"), tr("event number")};
    for (int i = 0; i < units.size(); ++i) {
        actions_->add_choice(axes, QStringLiteral("axis.%1").arg(i), units[i], i == 0,
                             [this, i] { page_->set_axis(static_cast<TimeAxis>(i)); });
    }
    actions_->end_submenu();
}

void MainWindow::make_go_menu() {
    actions_->begin_menu(tr("&Go"));
    actions_->add(QStringLiteral("go.back"), tr("Back"), {QKeySequence(QStringLiteral("Alt+Left"))},
                  [this] { page_->session()->selection().back(); });
    actions_->add(QStringLiteral("go.forward"), tr("Forward"), {QKeySequence(QStringLiteral("Alt+Right"))},
                  [this] { page_->session()->selection().forward(); });
    actions_->add(QStringLiteral("go.clear"), tr("Clear the selection"), {key(Qt::Key_Escape)}, [this] {
        if (!page_->close_transient()) {
            page_->session()->clear_selection();
        }
    });
    actions_->separator();
    actions_->add(QStringLiteral("go.next"), tr("Next change of memory"), {key(Qt::Key_Period)},
                  [this] { page_->session()->go_to_change(1); });
    actions_->add(QStringLiteral("go.previous"), tr("Previous change of memory"), {key(Qt::Key_Comma)},
                  [this] { page_->session()->go_to_change(-1); });
    actions_->add(QStringLiteral("go.peak"), tr("Peak"), {key(Qt::Key_P)}, [this] { page_->go_to_peak(); });
    actions_->add(QStringLiteral("go.next_iteration"), tr("Next iteration"), {key(Qt::Key_N)},
                  [this] { page_->go_to_iteration(1); });
    actions_->add(QStringLiteral("go.previous_iteration"), tr("Previous iteration"),
                  {QKeySequence(QStringLiteral("Shift+N"))}, [this] { page_->go_to_iteration(-1); });
    actions_->add(QStringLiteral("go.next_finding"), tr("Next finding"), {key(Qt::Key_J)},
                  [this] { page_->go_to_finding(1); });
    actions_->add(QStringLiteral("go.previous_finding"), tr("Previous finding"),
                  {QKeySequence(QStringLiteral("Shift+J"))}, [this] { page_->go_to_finding(-1); });
    actions_->add(QStringLiteral("go.next_oom"), tr("Next out-of-memory event"), {key(Qt::Key_O)},
                  [this] { page_->go_to_oom(1); });
    actions_->add(QStringLiteral("go.previous_oom"), tr("Previous out-of-memory event"),
                  {QKeySequence(QStringLiteral("Shift+O"))}, [this] { page_->go_to_oom(-1); });
    actions_->separator();
    actions_->add(QStringLiteral("go.find"), tr("Find allocations"), {QKeySequence::Find, key(Qt::Key_Slash)},
                  [this] { page_->find_in_table(); });
    actions_->add(QStringLiteral("go.breakdown"), tr("Memory breakdown: up to nvidia-smi's figure"), {key(Qt::Key_L)},
                  [this] { page_->show_pane(page_->breakdown()); });
    actions_->add(QStringLiteral("go.graph"), tr("Graph: why memory is alive"), {key(Qt::Key_G)},
                  [this] { page_->show_pane(page_->graph()); });
    actions_->add(QStringLiteral("go.graph_peak"), tr("Peak of the graph"), {QKeySequence(QStringLiteral("Shift+G"))},
                  [this] { page_->graph().go_to_peak(); });
    actions_->add(QStringLiteral("go.find_node"), tr("Find nodes of the graph"), {}, [this] {
        page_->show_pane(page_->graph());
        page_->graph().focus_search();
    });
    actions_->separator();
    actions_->add(QStringLiteral("notes.add"), tr("Add bookmark at the cursor…"),
                  {QKeySequence(QStringLiteral("Ctrl+D"))}, [this] { page_->notes_pane().add_bookmark(); });
    actions_->add(QStringLiteral("notes.edit"), tr("Edit the note at the cursor or on the finding…"), {key(Qt::Key_F2)},
                  [this] { page_->notes_pane().edit(); });
    actions_->separator();
    constexpr int last_digit = 9;
    int number = 0;
    for (const auto& [pane, name] : page_->panes()) {
        ++number;
        const QKeySequence digit(QStringLiteral("Ctrl+%1").arg(number));
        actions_->add(QStringLiteral("go.pane_%1").arg(number), tr("Pane %1").arg(name),
                      number <= last_digit ? QList{digit} : QList<QKeySequence>{},
                      [this, pane = pane] { page_->show_pane(*pane); });
    }
}

void MainWindow::make_compare_menu() {
    actions_->begin_menu(tr("&Compare"));
    actions_->add(QStringLiteral("compare.trace"), tr("Compare with another trace…"), {key(Qt::Key_C)},
                  [this] { page_->compare_trace(); });
    actions_->separator();
    actions_->add(QStringLiteral("compare.previous_step"), tr("Compare this step with the previous one"),
                  {key(Qt::Key_BracketLeft)}, [this] { page_->compare_step(OtherStep::previous); });
    actions_->add(QStringLiteral("compare.next_step"), tr("Compare this step with the next one"),
                  {key(Qt::Key_BracketRight)}, [this] { page_->compare_step(OtherStep::next); });
    actions_->add(QStringLiteral("compare.largest_step"), tr("Compare this step with the largest one"), {},
                  [this] { page_->compare_step(OtherStep::largest); });
    actions_->add(QStringLiteral("compare.step"), tr("Compare this step with a number…"),
                  {QKeySequence(QStringLiteral("Shift+C"))}, [this] { page_->compare_step_by_number(); });
    actions_->separator();
    actions_->add(QStringLiteral("compare.swap"), tr("Swap A and B"), {}, [this] { swap_compared(); });
    actions_->add(QStringLiteral("compare.stop"), tr("Stop comparing"), {}, [this] { stop_comparing(); });
}

void MainWindow::make_help_menu() {
    actions_->begin_menu(tr("&Help"));
    actions_->add(QStringLiteral("help.commands"), tr("Commands…"), {QKeySequence(QStringLiteral("Ctrl+Shift+P"))},
                  [this] {
                      auto* palette = new CommandPalette(*actions_, page_->pane_commands(), this);
                      palette->setAttribute(Qt::WA_DeleteOnClose);
                      palette->open();
                  });
    actions_->add(QStringLiteral("help.keys"), tr("Keys and mouse"), {key(Qt::Key_Question), key(Qt::Key_F1)}, [this] {
        auto* help = new ShortcutHelp(*actions_, this);
        help->setAttribute(Qt::WA_DeleteOnClose);
        help->show();
    });
    actions_->add(QStringLiteral("help.data_gaps"), tr("Data gaps of this trace"), {}, [this] {
        if (page_->session()) {
            page_->show_data_gaps();
        }
    });
    actions_->add(QStringLiteral("help.about"), tr("About Tidemark"), {}, [this] { show_about(); });
}

void MainWindow::fill_recent_menu() {
    recent_menu_->clear();
    const QStringList files = application_.settings().recent_files();
    for (const QString& file : files) {
        recent_menu_->addAction(file, this, [this, file] { open(file); });
    }
    if (files.isEmpty()) {
        recent_menu_->addAction(tr("No recent files"))->setEnabled(false);
        return;
    }
    recent_menu_->addSeparator();
    recent_menu_->addAction(tr("Clear the list"), this, [this] {
        application_.settings().forget_recent_files();
        start_->show_recent_files(application_.settings());
    });
}

void MainWindow::update_actions() {
    Session* session = page_->session();
    const bool shown = session != nullptr && session->has_device() && stack_->currentWidget() == page_;
    for (const Actions::Entry& entry : actions_->entries()) {
        const QString id = entry.action->objectName();
        const bool needs = std::any_of(needs_trace().begin(), needs_trace().end(),
                                       [&](const QString& prefix) { return id.startsWith(prefix); });
        entry.action->setEnabled(!needs || shown);
    }
    const bool live = session != nullptr && page_->live() != nullptr;
    for (const char* id : {"live.tail", "live.freeze"}) {
        actions_->find(QString::fromLatin1(id))->setEnabled(live);
    }
    actions_->find(QStringLiteral("live.tail"))->setChecked(live && session->time_view().follows_tail());
    actions_->find(QStringLiteral("live.freeze"))->setChecked(live && page_->live()->frozen());
    actions_->find(QStringLiteral("file.about_trace"))->setEnabled(session != nullptr);
    // Opening a trace again releases the locks with which this process follows it.
    actions_->find(QStringLiteral("file.share"))->setEnabled(session != nullptr && !live);
    actions_->find(QStringLiteral("file.reload"))->setEnabled(!file_.isEmpty());
    const PageLayout& arrangement = page_->arrangement();
    actions_->find(QStringLiteral("view.why"))->setChecked(arrangement.shows_story());
    actions_->find(QStringLiteral("view.details"))->setChecked(arrangement.shows_inspector());
    actions_->find(QStringLiteral("view.fill_stage"))->setChecked(arrangement.drawer_fills_stage());
    for (const char* id : {"why.save", "why.copy"}) {
        actions_->find(QString::fromLatin1(id))->setEnabled(shown && page_->why().has_explanation());
    }
    if (!shown) {
        return;
    }
    const bool compares = page_->changes().mode() != ComparedPoints::range;
    actions_->find(QStringLiteral("compare.swap"))->setEnabled(page_->changes().can_swap());
    actions_->find(QStringLiteral("compare.stop"))->setEnabled(compares);
    actions_->find(QStringLiteral("go.back"))->setEnabled(session->selection().can_go_back());
    actions_->find(QStringLiteral("go.forward"))->setEnabled(session->selection().can_go_forward());
    actions_->find(QStringLiteral("plots.undo"))->setEnabled(session->time_view().can_undo());
    actions_->find(QStringLiteral("plots.redo"))->setEnabled(session->time_view().can_redo());
    const auto& choices = group_options();
    const auto choice = std::find(choices.begin(), choices.end(), session->group_option()) - choices.begin();
    actions_->find(QStringLiteral("group.%1").arg(choice))->setChecked(true);
    actions_->find(QStringLiteral("color.%1").arg(static_cast<int>(page_->allocations().color_by())))->setChecked(true);
    actions_->find(QStringLiteral("axis.%1").arg(static_cast<int>(session->time_view().axis())))->setChecked(true);
}

}  // namespace tidemark::gui
