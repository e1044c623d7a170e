#include "gui/plot/ledger_picture.h"

#include <QBrush>
#include <algorithm>
#include <set>

#include "gui/model/lazy_ledger.h"
#include "gui/plot/column_canvas.h"

namespace tidemark::gui {

namespace {

/// The moment each column stands for: that of highest active memory in it, and where nothing happened its middle, since
/// driver memory changes then too. Rising.
std::vector<int64_t> times_of(const PictureRequest& r, const Columns& columns) {
    const DeviceHistory& device = r.analysis->device();
    std::vector<int64_t> times;
    times.reserve(columns->size());
    const double step = (r.to - r.from) / static_cast<double>(columns->size());
    for (size_t x = 0; x < columns->size(); ++x) {
        const Column& column = (*columns)[x];
        int64_t time = device.time_of_state(column.moment);
        if (r.axis == TimeAxis::wall_clock) {
            const auto left = static_cast<int64_t>(r.from + static_cast<double>(x) * step);
            const auto right = std::max(left, static_cast<int64_t>(r.from + static_cast<double>(x + 1) * step) - 1);
            time = column.first == column.last ? left + (right - left) / 2 : std::clamp(time, left, right);
        }
        times.push_back(times.empty() ? time : std::max(time, times.back()));
    }
    return times;
}

std::vector<LedgerRow> rows_of(const PictureRequest& r) {
    const Columns columns = columns_of(r);
    const Ledger& ledger = r.ledger->get();
    std::vector<LedgerRow> rows = ledger.band(times_of(r, columns));
    for (size_t x = 0; x < rows.size(); ++x) {
        // Clocks are coarser than events: a peak between two of the same time is asked for by its event.
        const Column& column = (*columns)[x];
        if (column.first != column.last && rows[x].event != column.moment) {
            rows[x] = ledger.at(column.moment);
        }
    }
    return rows;
}

std::vector<LayerKey> layers_of(const std::vector<LedgerRow>& rows) {
    std::set<LayerKey> keys;
    for (const LedgerRow& row : rows) {
        for (const Layer& layer : row.layers) {
            keys.insert({layer.kind, layer.name, layer.pid});
        }
    }
    return {keys.begin(), keys.end()};
}

int64_t known_of(const LedgerRow& row) {
    int64_t sum = 0;
    for (const Layer& layer : row.layers) {
        sum += std::max<int64_t>(layer.bytes, 0);
    }
    return sum;
}

/// One column of a layer; patterns are diagonal in device pixels.
void fill_layer(ColumnCanvas& canvas, const PictureRequest& r, int x, RowRun run, LayerKind kind, QRgb color) {
    const int period = 6 * r.line_width, line = 2 * r.line_width;
    const bool patterned = kind == LayerKind::waiting || kind == LayerKind::unknown;
    if (!patterned) {
        canvas.fill(x, run, color);
        return;
    }
    const QRgb light = mixed(color, r.theme.plot_background.rgb(), kind == LayerKind::unknown ? 0.8 : 0.55);
    for (int y = std::max(run.begin, 0); y < std::min(run.end, canvas.rows()); ++y) {
        canvas.column(x)[y] = (x + y) % period < line ? color : light;
    }
}

void paint_layers(ColumnCanvas& canvas, const LedgerPicture& picture) {
    const PictureRequest& r = picture.request;
    std::vector<QRgb> colors;
    for (const LayerKey& key : picture.layers) {
        colors.push_back(layer_color(r.theme, key.kind, nth_of_kind(picture.layers, key)).rgb());
    }
    for (int x = 0; x < r.pixels.width(); ++x) {
        double bottom = 0;
        for (const Layer& layer : picture.rows[static_cast<size_t>(x)].layers) {
            if (layer.bytes <= 0) {
                continue;
            }
            const auto key = std::lower_bound(picture.layers.begin(), picture.layers.end(),
                                              LayerKey{layer.kind, layer.name, layer.pid});
            const double top = bottom + static_cast<double>(layer.bytes);
            fill_layer(canvas, r, x, rows_between(bottom, top, r.low, bytes_per_row(r), canvas.rows()), layer.kind,
                       colors[static_cast<size_t>(key - picture.layers.begin())]);
            bottom = top;
        }
    }
}

/// NVML's figure; no line where no sample says it.
void paint_device_line(ColumnCanvas& canvas, const LedgerPicture& picture) {
    const PictureRequest& r = picture.request;
    const int thickness = 2 * r.line_width;
    std::optional<int> before;
    for (int x = 0; x < r.pixels.width(); ++x) {
        const auto used = picture.rows[static_cast<size_t>(x)].device_used;
        if (!used) {
            before.reset();
            continue;
        }
        const int at = static_cast<int>((static_cast<double>(*used) - r.low) / bytes_per_row(r));
        const int low = std::min(at, before.value_or(at)), high = std::max(at, before.value_or(at));
        for (int y = std::max(low - thickness / 2, 0); y < std::min(high + thickness - thickness / 2, canvas.rows());
             ++y) {
            canvas.column(x)[y] = r.theme.allocated_line.rgb();
        }
        before = at;
    }
}

}  // namespace

int nth_of_kind(const std::vector<LayerKey>& layers, const LayerKey& key) {
    return static_cast<int>(std::count_if(
        layers.begin(), layers.end(), [&](const LayerKey& other) { return other.kind == key.kind && other < key; }));
}

QBrush layer_brush(const Theme& theme, LayerKind kind, int nth) {
    const QColor color = layer_color(theme, kind, nth);
    const bool striped = kind == LayerKind::waiting || kind == LayerKind::unknown;
    return QBrush(color, striped ? Qt::BDiagPattern : Qt::SolidPattern);
}

LedgerPicture paint_ledger(const PictureRequest& request) {
    LedgerPicture picture;
    picture.request = request;
    const PictureRequest& r = picture.request;
    picture.rows = rows_of(r);
    picture.layers = layers_of(picture.rows);
    for (const LedgerRow& row : picture.rows) {
        picture.highest = std::max({picture.highest, known_of(row), row.device_used.value_or(0)});
    }
    ColumnCanvas canvas(r.pixels, r.theme.plot_background.rgb());
    paint_layers(canvas, picture);
    paint_device_line(canvas, picture);
    clear_future(canvas, r);
    picture.image = canvas.to_image();
    return picture;
}

}  // namespace tidemark::gui
