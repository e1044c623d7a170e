// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The whole window without a mouse: names for screen readers, the Tab key, a visible focus, the command palette.
#include <QAccessible>
#include <QAccessibleInterface>
#include <QApplication>
#include <QDialog>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QRadioButton>
#include <QScrollArea>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <algorithm>
#include <set>

#include "gui/app/application.h"
#include "gui/app/command_palette.h"
#include "gui/app/main_window.h"
#include "gui/story/walk_bar.h"

using namespace tidemark;
using namespace tidemark::gui;

namespace {

constexpr int most_tabs = 400;  // presses of Tab; no window has more controls

QString described(const QWidget& widget) {
    return QStringLiteral("%1 \"%2\" in %3")
        .arg(QString::fromLatin1(widget.metaObject()->className()), widget.accessibleName(),
             widget.parentWidget() != nullptr ? QString::fromLatin1(widget.parentWidget()->metaObject()->className())
                                              : QStringLiteral("nothing"));
}

QString name_of(QWidget& widget) {
    const QAccessibleInterface* access = QAccessible::queryAccessibleInterface(&widget);
    return access != nullptr ? access->text(QAccessible::Name) : QString();
}

/// Returns the widgets of a window that must be in its order of Tab.
std::vector<QWidget*> controls_of(const QWidget& window) {
    std::vector<QWidget*> controls;
    for (QWidget* widget : window.findChildren<QWidget*>()) {
        const auto* radio = qobject_cast<const QRadioButton*>(widget);
        if (widget->window() == &window && widget->isVisible() && widget->isEnabled() &&
            (widget->focusPolicy() & Qt::TabFocus) != 0 && widget->focusProxy() == nullptr &&
            (radio == nullptr || radio->isChecked())) {
            controls.push_back(widget);
        }
    }
    return controls;
}

/// Presses Tab until the focus is where it began; returns the widgets on the way.
std::vector<QWidget*> walk_with_tab(QWidget& window) {
    std::vector<QWidget*> way;
    for (int i = 0; i < most_tabs; ++i) {
        QWidget* focus = QApplication::focusWidget();
        QTest::keyClick(focus != nullptr ? focus : &window, Qt::Key_Tab);
        QWidget* next = QApplication::focusWidget();
        if (next == nullptr || (!way.empty() && next == way.front())) {
            break;
        }
        way.push_back(next);
    }
    return way;
}

QImage picture_around(QWidget& widget) {
    constexpr int margin = 4;  // pixels
    QWidget& window = *widget.window();
    QRect place(widget.mapTo(&window, QPoint(0, 0)), widget.size());
    return window.grab(place.adjusted(-margin, -margin, margin, margin).intersected(window.rect())).toImage();
}

/// Scrolls to a control, as a walk with Tab does.
void scroll_to(QWidget& control) {
    for (QWidget* parent = control.parentWidget(); parent != nullptr; parent = parent->parentWidget()) {
        if (auto* area = qobject_cast<QScrollArea*>(parent)) {
            area->ensureWidgetVisible(&control);
        }
    }
}

/// Returns the names that the palette offers.
std::set<QString> palette_of(MainWindow& window) {
    window.actions().find(QStringLiteral("help.commands"))->trigger();
    auto* palette = window.findChild<CommandPalette*>();
    std::set<QString> names;
    const auto* list = palette->findChild<QListWidget*>();
    for (int row = 0; row < list->count(); ++row) {
        names.insert(list->item(row)->text().section(QStringLiteral("   ["), 0, 0).section(QStringLiteral(" › "), -1));
    }
    delete palette;
    return names;
}

}  // namespace

class TestAccessibility : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        trace_ = folder_.filePath(QStringLiteral("run.tide"));
        const QString example =
            QStringLiteral(TIDEMARK_TEST_DATA "/../../resources/examples/s01_list_of_cpu_outputs.tide");
        QVERIFY(QFile::copy(example, trace_));  // notes are written beside it
        application_ = std::make_unique<Application>(Settings::Storage::in_memory);
        window_ = application_->open_window();
        window_->resize(1600, 1000);
        QSignalSpy shown(window_, &MainWindow::trace_shown);
        window_->open(trace_);
        QVERIFY(shown.wait(20000));
        QTRY_VERIFY_WITH_TIMEOUT(window_->page().why().has_explanation(), 20000);
        window_->page().arrangement().set_inspector(true);
        window_->page().why().select_finding(0);
    }

    void init() {
        // Repeats, because a window that closes late takes the activation away.
        QTRY_VERIFY_WITH_TIMEOUT((window_->activateWindow(), window_->isActiveWindow()), 60000);
    }

    void cleanupTestCase() { application_.reset(); }

    void keys_reach_every_control_of_every_pane_visibly() {
        for (const auto& [pane, name] : window_->page().panes()) {
            window_->page().show_pane(*pane);
            QTest::qWait(200);  // its worker fills it
            check_controls(*window_, name);
        }
    }

    void keys_reach_every_control_of_every_dialog_visibly() {
        for (const char* id : {"file.record", "file.share", "file.about_trace", "help.commands", "help.keys",
                               "help.data_gaps", "help.about", "notes.add"}) {
            window_->actions().find(QString::fromLatin1(id))->trigger();
            QDialog* dialog = nullptr;
            QTRY_VERIFY2((dialog = open_dialog()) != nullptr, id);
            QTRY_VERIFY_WITH_TIMEOUT((dialog->activateWindow(), dialog->isActiveWindow()), 10000);
            check_controls(*dialog, QString::fromLatin1(id));
            QTest::keyClick(dialog, Qt::Key_Escape);
            QTRY_VERIFY2(open_dialog() == nullptr, id);
        }
    }

    void every_action_is_in_the_palette() {
        for (const auto& [pane, name] : window_->page().panes()) {
            window_->page().show_pane(*pane);
            QTest::qWait(100);
            const std::set<QString> offered = palette_of(*window_);
            for (QAction* action : window_->findChildren<QAction*>()) {
                const auto widgets = action->associatedObjects();
                const bool can_run =
                    action->isEnabled() && action->menu() == nullptr && !action->isSeparator() &&
                    std::any_of(widgets.begin(), widgets.end(), [](const QObject* object) {
                        const auto* widget = qobject_cast<const QWidget*>(object);
                        return widget != nullptr && (widget->isVisible() || is_menu_of_visible(widget));
                    });
                if (can_run && !action->text().isEmpty()) {
                    missing_ += offered.count(plain_text(*action)) == 0
                                    ? QStringLiteral("%1: %2\n").arg(name, action->text())
                                    : QString();
                }
            }
        }
        QVERIFY2(missing_.isEmpty(), qPrintable(missing_));
    }

    void the_menu_bar_has_buttons_that_work_as_their_commands() {
        const auto buttons = window_->menuBar()->cornerWidget()->findChildren<QToolButton*>();
        QCOMPARE(buttons.size(), 3);
        for (const QToolButton* button : buttons) {
            QVERIFY(button->isVisible() && button->isEnabled());
            QVERIFY(!button->text().isEmpty());
            QVERIFY(!button->toolTip().contains('&'));
        }
        QTest::mouseClick(buttons.back(), Qt::LeftButton);
        auto* palette = window_->findChild<CommandPalette*>();
        QVERIFY(palette != nullptr);
        delete palette;
    }

    void the_palette_finds_commands_by_their_english_names() {
        window_->actions().find(QStringLiteral("help.commands"))->trigger();
        auto* palette = window_->findChild<CommandPalette*>();
        palette->findChild<QLineEdit*>()->setText(QStringLiteral("file.share"));
        const auto* list = palette->findChild<QListWidget*>();
        QCOMPARE(list->count(), 1);
        QVERIFY(list->item(0)->text().contains(QStringLiteral("Share")));
        delete palette;
    }

    void arrows_go_to_the_flags_of_the_overview() {
        OverviewPlot& overview = window_->page().overview();
        const auto flags = overview.flags().size();
        QVERIFY(flags > 0);
        QSignalSpy selected(&overview, &OverviewPlot::finding_selected);
        overview.setFocus(Qt::TabFocusReason);
        const double from = window_->page().session()->time_view().from();
        const QImage before = overview.grab().toImage();
        QTest::keyClick(&overview, Qt::Key_Right);
        QVERIFY(overview.grab().toImage() != before);
        QCOMPARE(window_->page().session()->time_view().from(), from);
        QTest::keyClick(&overview, Qt::Key_Return);
        QCOMPARE(selected.count(), 1);
        QTest::keyClick(&overview, Qt::Key_Left);
        QTest::keyClick(&overview, Qt::Key_Space);
        QCOMPARE(selected.count(), 2);
        QTest::keyClick(&overview, Qt::Key_Escape);
        QVERIFY(overview.grab().toImage() == before);
        QTest::keyClick(&overview, Qt::Key_Return);
        QCOMPARE(selected.count(), 2);
    }

    void keys_go_from_iteration_to_iteration_and_from_finding_to_finding() {
        Session& session = *window_->page().session();
        const auto& iterations = session.shared_iterations()->get().all();
        QVERIFY(iterations.size() > 2);
        const auto run = [this](const char* id) { window_->actions().find(QString::fromLatin1(id))->trigger(); };
        const auto event = [&session] { return session.selection().state().time_point.event; };
        session.selection().set_time_point(iterations[1].first);
        run("go.next_iteration");
        QCOMPARE(event(), iterations[2].first);
        run("go.previous_iteration");
        run("go.previous_iteration");
        QCOMPARE(event(), iterations[0].first);
        run("go.previous_iteration");
        QCOMPARE(event(), iterations[0].first);
        session.selection().set_time_point(iterations[1].first + 1);
        run("go.previous_iteration");
        QCOMPARE(event(), iterations[1].first);

        const auto& flags = window_->page().overview().flags();
        window_->page().why().select_finding(flags.front().finding);
        run("go.next_finding");
        QCOMPARE(session.explanation_source().selected(), flags[std::min<size_t>(1, flags.size() - 1)].finding);
        run("go.previous_finding");
        QCOMPARE(session.explanation_source().selected(), flags.front().finding);
    }

    void esc_closes_what_is_open_before_it_clears_the_selection() {
        TracePage& page = window_->page();
        Session& session = *page.session();
        session.selection().select_allocation(5);
        TimelinePlot& plot = page.timeline();
        const QPoint middle = plot.rect().center();
        QTest::mouseMove(&plot, middle);
        QMouseEvent hover(QEvent::MouseMove, middle, plot.mapToGlobal(middle), Qt::NoButton, Qt::NoButton,
                          Qt::NoModifier);
        QApplication::sendEvent(&plot, &hover);
        QCOMPARE(visible_tips(), 1);
        QTest::mouseClick(&plot, Qt::LeftButton, Qt::ControlModifier, middle);
        QCOMPARE(visible_tips(), 2);
        press_escape(plot);
        QCOMPARE(visible_tips(), 0);
        QCOMPARE(session.selection().state().allocation, AllocationIndex{5});

        page.why().walk(0);
        QVERIFY(page.why().walk_bar().isVisible());
        press_escape(page.why().walk_bar());
        QVERIFY(!page.why().walk_bar().isVisible());

        session.selection().select_allocation(5);
        window_->resize(1000, 760);
        QTRY_VERIFY(!page.why().isVisible());
        window_->actions().find(QStringLiteral("view.why"))->trigger();
        QVERIFY(page.why().isVisible());
        press_escape(plot);
        QVERIFY(!page.why().isVisible());
        QCOMPARE(session.selection().state().allocation, AllocationIndex{5});
        press_escape(plot);
        QCOMPARE(session.selection().state().allocation, no_allocation);
        window_->resize(1600, 1000);
    }

    void esc_empties_the_fields_of_every_pane_and_keeps_the_selection() {
        Session& session = *window_->page().session();
        int fields = 0;
        for (const auto& [pane, name] : window_->page().panes()) {
            window_->page().show_pane(*pane);
            for (QLineEdit* field : pane->findChildren<QLineEdit*>()) {
                if (field->isVisible() && field->isEnabled() && field->isClearButtonEnabled()) {
                    session.selection().select_allocation(5);
                    field->setFocus(Qt::TabFocusReason);
                    QTest::keyClicks(field, QStringLiteral("zz"));
                    press_escape(*field);
                    QVERIFY2(field->text().isEmpty(), qPrintable(described(*field)));
                    QCOMPARE(session.selection().state().allocation, AllocationIndex{5});
                    ++fields;
                }
            }
        }
        QVERIFY(fields >= 5);
    }

    void esc_closes_menus() {
        int menus = 0;
        for (const auto& [pane, name] : window_->page().panes()) {
            window_->page().show_pane(*pane);
            QTest::qWait(50);
            for (const auto* button : pane->findChildren<QToolButton*>()) {
                if (button->isVisible() && button->isEnabled() && button->menu() != nullptr) {
                    button->menu()->popup(button->mapToGlobal(QPoint(0, 0)));
                    QTRY_VERIFY(button->menu()->isVisible());
                    QTest::keyClick(button->menu(), Qt::Key_Escape);
                    QVERIFY2(!button->menu()->isVisible(), qPrintable(described(*button)));
                    ++menus;
                }
            }
        }
        QVERIFY(menus >= 2);
    }

private:
    int visible_tips() const {
        const auto tips = window_->findChildren<HoverTip*>();
        return static_cast<int>(
            std::count_if(tips.begin(), tips.end(), [](const HoverTip* tip) { return tip->isVisible(); }));
    }

    static void press_escape(QWidget& widget) {
        widget.setFocus(Qt::OtherFocusReason);
        QTest::keyClick(&widget, Qt::Key_Escape);
    }

    static bool is_menu_of_visible(const QWidget* widget) {
        const auto* menu = qobject_cast<const QMenu*>(widget);
        const QWidget* owner = menu != nullptr ? menu->parentWidget() : nullptr;
        return owner != nullptr && owner->isVisible() && owner->isEnabled();
    }

    static QDialog* open_dialog() {
        for (QWidget* widget : QApplication::topLevelWidgets()) {
            auto* dialog = qobject_cast<QDialog*>(widget);
            if (dialog != nullptr && dialog->isVisible()) {
                return dialog;
            }
        }
        return nullptr;
    }

    void check_controls(QWidget& window, const QString& place) {
        QString wrong;
        const std::vector<QWidget*> controls = controls_of(window);
        for (QWidget* control : controls) {
            if (name_of(*control).isEmpty()) {
                wrong += QStringLiteral("no name: %1\n").arg(described(*control));
            }
        }
        if (QWidget* focus = QApplication::focusWidget()) {
            focus->clearFocus();
        }
        const std::vector<QWidget*> way = walk_with_tab(window);
        QVERIFY2(!controls.empty() && !way.empty(), qPrintable(place));
        for (QWidget* control : controls) {
            if (std::find(way.begin(), way.end(), control) == way.end()) {
                wrong += QStringLiteral("not reached: %1\n").arg(described(*control));
            }
        }
        for (QWidget* control : way) {
            if (!checked_.insert(control).second) {
                continue;
            }
            scroll_to(*control);
            control->setFocus(Qt::OtherFocusReason);
            control->clearFocus();
            const QImage without = picture_around(*control);
            control->setFocus(Qt::TabFocusReason);
            if (picture_around(*control) == without) {
                wrong += QStringLiteral("focus not visible: %1\n").arg(described(*control));
            }
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(place + u'\n' + wrong));
    }

    QTemporaryDir folder_;
    QString trace_, missing_;
    std::unique_ptr<Application> application_;
    MainWindow* window_ = nullptr;
    std::set<QWidget*> checked_;  ///< for a visible focus; the panes share most of the window
};

QTEST_MAIN(TestAccessibility)
#include "test_accessibility.moc"
