// The panes below and beside the plots, all in one place for those that arrange them.
#pragma once

#include "gui/graph/graph_pane.h"
#include "gui/view/allocation_table.h"
#include "gui/view/details_pane.h"
#include "gui/view/breakdown_pane.h"
#include "gui/view/segment_map.h"
#include "gui/view/summary_table.h"
#include "gui/why/why_pane.h"
