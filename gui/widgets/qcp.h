// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Includes QCustomPlot, whose header needs Qt's foreach and produces warnings.
#pragma once

#ifdef QT_NO_FOREACH
#undef QT_NO_FOREACH
#define TIDEMARK_RESTORE_NO_FOREACH
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#include <qcustomplot.h>
#pragma GCC diagnostic pop
#ifdef TIDEMARK_RESTORE_NO_FOREACH
#define QT_NO_FOREACH
#undef TIDEMARK_RESTORE_NO_FOREACH
#endif
