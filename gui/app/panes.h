// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// All panes below and beside the plots.
#pragma once

#include "gui/breakdown/breakdown_pane.h"
#include "gui/changes/changes_pane.h"
#include "gui/graph/graph_pane.h"
#include "gui/histograms/histograms_pane.h"
#include "gui/inspector/inspector_pane.h"
#include "gui/notes/notes_pane.h"
#include "gui/segments/segment_map.h"
#include "gui/source/source_pane.h"
#include "gui/sql/sql_pane.h"
#include "gui/story/story_pane.h"
#include "gui/story/summary_bar.h"
#include "gui/table/allocation_table.h"
#include "gui/table/summary_table.h"
#include "gui/tree/tree_pane.h"
#include "gui/whatif/whatif_pane.h"
