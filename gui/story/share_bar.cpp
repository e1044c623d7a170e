// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/story/share_bar.h"

#include <QEvent>
#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/model/text.h"
#include "gui/widgets/hover_tip.h"
#include "gui/widgets/text_block.h"

namespace tidemark::gui {

QColor share_color(const Theme& theme, const std::vector<Share>& shares, size_t index) {
    const Share& share = shares[index];
    if (share.category) {
        return category_color(theme, *share.category);
    }
    // In the order of the plots.
    const auto nth = std::count_if(shares.begin(), shares.end(), [&](const Share& other) {
        return other.component == share.component && other.name < share.name;
    });
    return share.component ? component_color(theme, *share.component, static_cast<int>(nth))
                           : group_color(theme, -1, 0);
}

namespace {

/// Returns the parts without those of other processes: a GPU that others fill would leave no room in the bar for the
/// program's own. "Everything else" may contain small processes.
std::vector<Share> own_shares(const Explanation& explanation, int64_t of_others) {
    std::vector<Share> own;
    int64_t unnamed = of_others;
    for (const Share& share : explanation.shares) {
        const bool is_others = share.component == ComponentKind::other_processes;
        unnamed -= is_others ? share.bytes : 0;
        if (!is_others) {
            own.push_back(share);
        }
    }
    if (!own.empty() && !own.back().component && !own.back().category) {
        own.back().bytes -= unnamed;
        if (own.back().bytes <= 0) {
            own.pop_back();
        }
    }
    for (Share& share : own) {
        share.of_total = static_cast<double>(share.bytes) / static_cast<double>(explanation.total - of_others);
    }
    return own;
}

}  // namespace

class ShareBar::Bar : public QWidget {
public:
    explicit Bar(const ShareBar& owner) : owner_(owner) { setFixedHeight(18); }

    /// Returns the part under a pixel; -1: none.
    int part_at(double x) const {
        for (size_t i = 0; i < owner_.shares_.size(); ++i) {
            if (x >= left(i) && x < left(i + 1)) {
                return static_cast<int>(i);
            }
        }
        return -1;
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        const Theme theme = Theme::current();
        for (size_t i = 0; i < owner_.shares_.size(); ++i) {
            const QRectF part(left(i), 0, std::max(left(i + 1) - left(i), 1.0), height());
            painter.fillRect(part, share_color(theme, owner_.shares_, i));
            painter.fillRect(QRectF(part.right() - 1, 0, 1, height()), theme.plot_background);
        }
        painter.setPen(theme.faint_text);
        painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
    }

private:
    double left(size_t part) const {
        int64_t before = 0, all = 0;
        for (size_t i = 0; i < owner_.shares_.size(); ++i) {
            before += i < part ? owner_.shares_[i].bytes : 0;
            all += owner_.shares_[i].bytes;
        }
        return all > 0 ? static_cast<double>(before) / static_cast<double>(all) * width() : 0;
    }

    const ShareBar& owner_;
};

ShareBar::ShareBar(QWidget* parent)
    : QWidget(parent), bar_(new Bar(*this)), legend_(new TextBlock(tr("Parts of the memory"))) {
    setAccessibleName(tr("Composition of the memory"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(bar_);
    column->addWidget(legend_);
}

void ShareBar::show_shares(const Explanation& explanation, int64_t of_others) {
    shares_ = own_shares(explanation, of_others);
    own_ = explanation.total - of_others;
    of_others_ = of_others;
    setVisible(!shares_.empty());
    setAccessibleDescription(plain_text());
    fill();
}

QString ShareBar::plain_text() const {
    QStringList parts;
    for (const Share& share : shares_) {
        parts << QStringLiteral("%1: %2 (%3)")
                     .arg(to_qstring(share.name), bytes_text(static_cast<uint64_t>(share.bytes)),
                          percent_text(share.of_total, 1));
    }
    return parts.join(QStringLiteral("; "));
}

void ShareBar::fill() {
    const Theme theme = Theme::current();
    QString rows;
    const auto row = [&](const QString& mark, const QString& name, int64_t bytes, const QString& share) {
        rows += QStringLiteral(
                    "<tr><td width=\"22\">%1</td><td>%2</td>"
                    "<td align=\"right\" valign=\"middle\" style=\"padding-left:8px; white-space:nowrap\">%3</td>"
                    "<td align=\"right\" valign=\"middle\" style=\"padding-left:8px; white-space:nowrap; "
                    "color:%5\">%4</td></tr>")
                    .arg(mark, name, bytes_text(static_cast<uint64_t>(bytes)), share, theme.faint_text.name());
    };
    for (size_t i = 0; i < shares_.size(); ++i) {
        row(swatch(share_color(theme, shares_, i)), rich_text(to_qstring(shares_[i].name)), shares_[i].bytes,
            percent_text(shares_[i].of_total, 1));
    }
    const auto bold = [](const QString& text) { return QStringLiteral("<b>%1</b>").arg(text); };
    row(QString(), bold(of_others_ > 0 ? tr("this program") : tr("total")), own_, QString());
    if (of_others_ > 0) {
        row(swatch(component_color(theme, ComponentKind::other_processes, 0)), tr("other programs"), of_others_,
            QString());
        row(QString(), bold(tr("total")), own_ + of_others_, QString());
    }
    legend_->show_html(
        QStringLiteral("<table width=\"100%\" cellspacing=\"0\" cellpadding=\"1\">%1</table>").arg(rows));
    bar_->update();
}

bool ShareBar::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int part = bar_->geometry().contains(help->pos()) ? bar_->part_at(help->pos().x() - bar_->x()) : -1;
        if (part >= 0) {
            const Share& share = shares_[static_cast<size_t>(part)];
            QToolTip::showText(help->globalPos(),
                               tip_text(QStringLiteral("%1: %2").arg(
                                   to_qstring(share.name), both_bytes_text(static_cast<uint64_t>(share.bytes)))));
            return true;
        }
    }
    return QWidget::event(event);
}

void ShareBar::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        fill();
    }
}

}  // namespace tidemark::gui
