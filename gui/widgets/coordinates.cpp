// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/coordinates.h"

#include <QLocale>
#include <algorithm>
#include <array>
#include <cmath>

namespace tidemark::gui {

RowRun rows_between(double bottom, double top, double low, double bytes_per_row, int rows) {
    const auto first_center_above = [&](double bytes) {
        const double row = std::ceil((bytes - low) / bytes_per_row - 0.5);
        return static_cast<int>(std::clamp<double>(row, 0, rows));
    };
    return {first_center_above(bottom), first_center_above(top)};
}

double byte_tick_step(double span, int count) {
    const double least = std::max(span / std::max(count, 1), 1.0);
    return std::exp2(std::ceil(std::log2(least)));
}

double decimal_tick_step(double span, int count) {
    const double least = span / std::max(count, 1);
    if (!(least > 0)) {
        return 1;
    }
    const double power = std::pow(10, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= least) {
            return factor * power;
        }
    }
    return 10 * power;
}

namespace {

/// Returns the decimals a number needs to be exact, at most 6.
int decimals_of(double number) {
    int decimals = 0;
    for (double x = number; decimals < 6 && std::fabs(x - std::round(x)) > 1e-9; x *= 10) {
        ++decimals;
    }
    return decimals;
}

}  // namespace

QString byte_tick_label(double bytes, double step) {
    static constexpr std::array<const char*, 6> units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    if (bytes == 0) {
        return QStringLiteral("0");
    }
    const auto magnitude = [](double x) { return static_cast<int>(std::floor(std::log2(std::max(x, 1.0)) / 10)); };
    int unit = std::clamp(magnitude(std::fabs(bytes)), 0, 5);
    // Neighboring ticks must differ: as many decimals as a step needs, in a smaller unit if that is more than two.
    int decimals = decimals_of(step / std::exp2(10 * unit));
    while (decimals > 2 && unit > 0) {
        --unit;
        decimals = decimals_of(step / std::exp2(10 * unit));
    }
    QLocale english(QLocale::English, QLocale::UnitedStates);
    QString number = english.toString(bytes / std::exp2(10 * unit), 'f', decimals);
    while (number.contains('.') && (number.endsWith('0') || number.endsWith('.'))) {
        number.chop(1);
    }
    return number + ' ' + QLatin1String(units[static_cast<size_t>(unit)]);
}

QString time_tick_label(double ns, double step_ns) {
    const double step = step_ns / 1e9;
    const int decimals = step >= 1 ? 0 : std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 9);
    QString text = QString::number(ns / 1e9, 'f', decimals);
    // Long fractions are written in groups of three.
    const auto dot = text.indexOf('.');
    for (auto at = dot + 4; dot >= 0 && at < text.size(); at += 4) {
        text.insert(at, QChar(0x202f));
    }
    return text + QStringLiteral(" s");
}

}  // namespace tidemark::gui
