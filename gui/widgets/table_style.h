// How every table of the panes looks: rows of one height, room between columns, small colour swatches.
#pragma once

class QTableView;

namespace tidemark::gui {

/// Read-only, whole rows, no measuring row by row (tables may have millions of rows).
void set_table_style(QTableView* table);

}  // namespace tidemark::gui
