#include "gui/plot/annotation_rows.h"

#include <algorithm>

namespace tidemark::gui {

AnnotationRows lay_out_annotations(const Trace& trace, int device) {
    AnnotationRows result;
    for (const Annotation& a : trace.annotations) {
        if (a.device == device || a.device < 0) {
            result.all.push_back(&a);
        }
    }
    std::stable_sort(result.all.begin(), result.all.end(), [](const Annotation* a, const Annotation* b) {
        return a->start != b->start ? a->start < b->start : a->end > b->end;
    });
    std::vector<int64_t> row_end;
    for (const Annotation* a : result.all) {
        const auto free_row =
            std::find_if(row_end.begin(), row_end.end(), [a](int64_t end) { return end <= a->start; });
        const auto row = static_cast<size_t>(free_row - row_end.begin());
        if (row >= most_annotation_rows) {
            ++result.hidden;
            continue;
        }
        if (free_row == row_end.end()) {
            row_end.push_back(a->end);
            result.rows.emplace_back();
        } else {
            *free_row = a->end;
        }
        result.rows[row].push_back(a);
    }
    return result;
}

std::vector<const Annotation*> AnnotationRows::at(int64_t time) const {
    constexpr size_t most = 8;
    std::vector<const Annotation*> open;
    const auto after =
        std::upper_bound(all.begin(), all.end(), time, [](int64_t t, const Annotation* a) { return t < a->start; });
    // Deeply nested spans start late: walking back a while finds them; outer ones are found by their rows.
    for (auto it = after; it != all.begin() && open.size() < most && after - it < 1000;) {
        --it;
        if ((*it)->end > time) {
            open.push_back(*it);
        }
    }
    for (const auto& row : rows) {
        const auto next =
            std::upper_bound(row.begin(), row.end(), time, [](int64_t t, const Annotation* a) { return t < a->start; });
        if (next != row.begin() && (*(next - 1))->end > time &&
            std::find(open.begin(), open.end(), *(next - 1)) == open.end()) {
            open.push_back(*(next - 1));
        }
    }
    std::reverse(open.begin(), open.end());
    return open;
}

}  // namespace tidemark::gui
