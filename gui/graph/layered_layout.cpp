// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/layered_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace tidemark::gui {

namespace {

constexpr int ordering_iterations = 12;
constexpr int placing_iterations = 10;
constexpr double lane_weight = 6;  // long edges run straight before boxes are centered

/// A box, or the place where a long edge passes a layer.
struct Item {
    double width = 0, height = 0;
    int layer = 0;
    int box = -1;                   // -1: an edge passes
    std::vector<int> above, below;  // neighbors in the adjacent layers
    double x = 0;                   // of its center
    int place = 0;                  // in its layer
};

class Layouter {
public:
    Layouter(const std::vector<QSizeF>& boxes, const std::vector<LayoutEdge>& edges, const LayoutSpacing& spacing,
             const Progress& progress)
        : boxes_(boxes), edges_(edges), spacing_(spacing), progress_(progress), upward_(edges.size()) {}

    std::optional<LayeredLayout> run(int first, int last) {
        turn_cycles();
        make_layers(first, last);
        thread_edges();
        order();
        if (progress_.canceled) {
            return std::nullopt;
        }
        place();
        return result();
    }

private:
    int upper(size_t edge) const { return upward_[edge] ? edges_[edge].to : edges_[edge].from; }
    int lower(size_t edge) const { return upward_[edge] ? edges_[edge].from : edges_[edge].to; }

    /// Marks each edge that closes a cycle as leading up: depth first, those back to a box on the current path.
    void turn_cycles() {
        enum State : uint8_t { untouched, open, done };
        std::vector<std::vector<size_t>> out(boxes_.size());
        std::vector<int> arrivals(boxes_.size());
        for (size_t e = 0; e < edges_.size(); ++e) {
            out[static_cast<size_t>(edges_[e].from)].push_back(e);
            ++arrivals[static_cast<size_t>(edges_[e].to)];
        }
        std::vector<State> state(boxes_.size(), untouched);
        std::vector<std::pair<size_t, size_t>> stack;  // box and its next edge
        const auto visit = [&](size_t start) {
            if (state[start] != untouched) {
                return;
            }
            state[start] = open;
            stack.emplace_back(start, 0);
            while (!stack.empty()) {
                auto& [box, next] = stack.back();
                if (next == out[box].size()) {
                    state[box] = done;
                    stack.pop_back();
                    continue;
                }
                const size_t edge = out[box][next++];
                const auto to = static_cast<size_t>(edges_[edge].to);
                upward_[edge] = state[to] == open;
                if (state[to] == untouched) {
                    state[to] = open;
                    stack.emplace_back(to, 0);
                }
            }
        };
        for (size_t box = 0; box < boxes_.size(); ++box) {
            if (arrivals[box] == 0) {
                visit(box);
            }
        }
        for (size_t box = 0; box < boxes_.size(); ++box) {
            visit(box);
        }
    }

    /// Places each box below all boxes that lead to it.
    void make_layers(int first, int last) {
        std::vector<int> pending(boxes_.size());
        std::vector<std::vector<int>> out(boxes_.size());
        for (size_t e = 0; e < edges_.size(); ++e) {
            out[static_cast<size_t>(upper(e))].push_back(lower(e));
            ++pending[static_cast<size_t>(lower(e))];
        }
        items_.resize(boxes_.size());
        std::vector<int> ready;
        for (size_t box = 0; box < boxes_.size(); ++box) {
            items_[box] = {boxes_[box].width(), boxes_[box].height(), 0, static_cast<int>(box), {}, {}, 0, 0};
            if (pending[box] == 0) {
                items_[box].layer = first >= 0 && static_cast<int>(box) != first ? 1 : 0;
                ready.push_back(static_cast<int>(box));
            }
        }
        int deepest = 0;
        for (size_t i = 0; i < ready.size(); ++i) {
            const int layer = items_[static_cast<size_t>(ready[i])].layer;
            deepest = std::max(deepest, layer);
            for (const int to : out[static_cast<size_t>(ready[i])]) {
                Item& item = items_[static_cast<size_t>(to)];
                item.layer = std::max(item.layer, layer + 1);
                if (--pending[static_cast<size_t>(to)] == 0) {
                    ready.push_back(to);
                }
            }
        }
        if (last >= 0) {
            Item& item = items_[static_cast<size_t>(last)];
            const bool alone =
                std::count_if(items_.begin(), items_.end(), [&](const Item& i) { return i.layer >= item.layer; }) == 1;
            item.layer = alone ? item.layer : deepest + 1;
        }
    }

    void thread_edges() {
        for (size_t e = 0; e < edges_.size(); ++e) {
            std::vector<int>& chain = chains_.emplace_back(1, upper(e));
            const int end = lower(e);
            for (int layer = items_[static_cast<size_t>(chain[0])].layer + 1;
                 layer < items_[static_cast<size_t>(end)].layer; ++layer) {
                items_.push_back({spacing_.lane, 0, layer, -1, {}, {}, 0, 0});
                chain.push_back(static_cast<int>(items_.size()) - 1);
            }
            chain.push_back(end);
            for (size_t i = 0; i + 1 < chain.size(); ++i) {
                items_[static_cast<size_t>(chain[i])].below.push_back(chain[i + 1]);
                items_[static_cast<size_t>(chain[i + 1])].above.push_back(chain[i]);
            }
        }
    }

    // ---- order within layers --------------------------------------------------------------------------------------

    void order() {
        int deepest = 0;
        for (const Item& item : items_) {
            deepest = std::max(deepest, item.layer);
        }
        layers_.resize(static_cast<size_t>(deepest) + 1);
        for (size_t i = 0; i < items_.size(); ++i) {
            layers_[static_cast<size_t>(items_[i].layer)].push_back(static_cast<int>(i));
        }
        number();
        auto best = layers_;
        int64_t fewest = crossings();
        for (int iteration = 0; iteration < ordering_iterations && fewest > 0 && !progress_.canceled; ++iteration) {
            sweep(iteration % 2 == 0);
            if (const int64_t now = crossings(); now < fewest) {
                fewest = now;
                best = layers_;
            }
        }
        layers_ = std::move(best);
        number();
    }

    void number() {
        for (const auto& layer : layers_) {
            for (size_t i = 0; i < layer.size(); ++i) {
                items_[static_cast<size_t>(layer[i])].place = static_cast<int>(i);
            }
        }
    }

    /// Moves every item to the median of its neighbors in the layer before; items without neighbors stay.
    void sweep(bool down) {
        const size_t count = layers_.size();
        for (size_t step = 1; step < count; ++step) {
            auto& layer = layers_[down ? step : count - 1 - step];
            std::vector<std::pair<double, int>> wanted;
            for (const int i : layer) {
                const Item& item = items_[static_cast<size_t>(i)];
                const auto& beside = down ? item.above : item.below;
                wanted.emplace_back(beside.empty() ? item.place : median_place(beside), i);
            }
            std::stable_sort(wanted.begin(), wanted.end(),
                             [](const auto& a, const auto& b) { return a.first < b.first; });
            for (size_t i = 0; i < layer.size(); ++i) {
                layer[i] = wanted[i].second;
                items_[static_cast<size_t>(layer[i])].place = static_cast<int>(i);
            }
        }
    }

    double median_place(const std::vector<int>& beside) const {
        std::vector<int> places;
        for (const int i : beside) {
            places.push_back(items_[static_cast<size_t>(i)].place);
        }
        std::sort(places.begin(), places.end());
        const size_t half = places.size() / 2;
        return places.size() % 2 ? places[half] : (places[half - 1] + places[half]) / 2.0;
    }

    int64_t crossings() const {
        int64_t total = 0;
        for (size_t l = 0; l + 1 < layers_.size(); ++l) {
            std::vector<int> ends;
            for (const int i : layers_[l]) {
                const size_t from = ends.size();
                for (const int below : items_[static_cast<size_t>(i)].below) {
                    ends.push_back(items_[static_cast<size_t>(below)].place);
                }
                std::sort(ends.begin() + static_cast<ptrdiff_t>(from), ends.end());
            }
            total += inversions(ends, static_cast<int>(layers_[l + 1].size()));
        }
        return total;
    }

    /// Counts crossings as pairs in the wrong order, with a tree of counts.
    static int64_t inversions(const std::vector<int>& places, int count) {
        std::vector<int> tree(static_cast<size_t>(count) + 1);
        int64_t found = 0, seen = 0;
        for (const int place : places) {
            int64_t not_greater = 0;
            for (int i = place + 1; i > 0; i -= i & -i) {
                not_greater += tree[static_cast<size_t>(i)];
            }
            found += seen++ - not_greater;
            for (int i = place + 1; i <= count; i += i & -i) {
                ++tree[static_cast<size_t>(i)];
            }
        }
        return found;
    }

    // ---- coordinates ------------------------------------------------------------------------------------------------

    double distance(const Item& left, const Item& right) const {
        const double gap = left.box < 0 && right.box < 0 ? 0 : spacing_.between_boxes;
        return (left.width + right.width) / 2 + gap;
    }

    void place() {
        for (const auto& layer : layers_) {
            for (size_t i = 1; i < layer.size(); ++i) {
                const Item& left = items_[static_cast<size_t>(layer[i - 1])];
                Item& item = items_[static_cast<size_t>(layer[i])];
                item.x = left.x + distance(left, item);
            }
        }
        for (int iteration = 0; iteration < placing_iterations; ++iteration) {
            for (size_t l = 0; l < layers_.size(); ++l) {
                settle(layers_[iteration % 2 == 0 ? l : layers_.size() - 1 - l], iteration % 2 == 0);
            }
        }
        for (const auto& layer : layers_) {
            settle_between(layer);
        }
    }

    /// Returns the mean position of the boxes among these items; without boxes, that of all of them.
    static double mean_x(const std::vector<Item>& items, const std::vector<int>& of) {
        double sum = 0, all = 0;
        int boxes = 0;
        for (const int i : of) {
            const Item& item = items[static_cast<size_t>(i)];
            all += item.x;
            sum += item.box >= 0 ? item.x : 0;
            boxes += item.box >= 0;
        }
        return boxes > 0 ? sum / boxes : all / static_cast<double>(of.size());
    }

    void settle(const std::vector<int>& layer, bool from_above) {
        std::vector<double> wanted;
        for (const int i : layer) {
            const Item& item = items_[static_cast<size_t>(i)];
            const auto& beside = from_above ? item.above : item.below;
            wanted.push_back(beside.empty() ? item.x : mean_x(items_, beside));
        }
        fit(layer, wanted);
    }

    void settle_between(const std::vector<int>& layer) {
        std::vector<double> wanted;
        for (const int i : layer) {
            const Item& item = items_[static_cast<size_t>(i)];
            double sum = 0;
            int sides = 0;
            for (const auto* beside : {&item.above, &item.below}) {
                if (!beside->empty()) {
                    sum += mean_x(items_, *beside);
                    ++sides;
                }
            }
            wanted.push_back(sides == 0 ? item.x : sum / sides);
        }
        fit(layer, wanted);
    }

    /// Moves items as near to the wanted places as order and distances allow: least weighted squares, by pooling
    /// neighbors that would overlap.
    void fit(const std::vector<int>& layer, const std::vector<double>& wanted) {
        struct Pool {
            double sum = 0, weight = 0;
            size_t end = 0;
            double mean() const { return sum / weight; }
        };
        std::vector<Pool> pools;
        std::vector<double> offset(layer.size());
        for (size_t i = 0; i < layer.size(); ++i) {
            const Item& item = items_[static_cast<size_t>(layer[i])];
            if (i > 0) {
                offset[i] = offset[i - 1] + distance(items_[static_cast<size_t>(layer[i - 1])], item);
            }
            const double weight = item.box < 0 ? lane_weight : 1;
            pools.push_back({(wanted[i] - offset[i]) * weight, weight, i + 1});
            while (pools.size() > 1 && pools[pools.size() - 2].mean() >= pools.back().mean()) {
                const Pool last = pools.back();
                pools.pop_back();
                pools.back() = {pools.back().sum + last.sum, pools.back().weight + last.weight, last.end};
            }
        }
        size_t i = 0;
        for (const Pool& pool : pools) {
            for (; i < pool.end; ++i) {
                items_[static_cast<size_t>(layer[i])].x = pool.mean() + offset[i];
            }
        }
    }

    // ---- result -----------------------------------------------------------------------------------------------------

    LayeredLayout result() {
        double left = 0, right = 0;
        if (!items_.empty()) {
            left = right = items_.front().x;
        }
        for (const Item& item : items_) {
            left = std::min(left, item.x - item.width / 2);
            right = std::max(right, item.x + item.width / 2);
        }
        std::vector<double> top(layers_.size()), height(layers_.size());
        double y = 0;
        for (size_t l = 0; l < layers_.size(); ++l) {
            for (const int i : layers_[l]) {
                height[l] = std::max(height[l], items_[static_cast<size_t>(i)].height);
            }
            top[l] = y;
            y += height[l] + spacing_.between_layers;
        }
        LayeredLayout layout;
        layout.size = QSizeF(right - left, layers_.empty() ? 0 : y - spacing_.between_layers);
        layout.upward = upward_;
        for (size_t b = 0; b < boxes_.size(); ++b) {
            const Item& item = items_[b];
            const auto layer = static_cast<size_t>(item.layer);
            layout.top_left.emplace_back(item.x - item.width / 2 - left,
                                         top[layer] + (height[layer] - item.height) / 2);
        }
        add_routes(layout, left, top, height);
        return layout;
    }

    /// Edges leave and reach a box side by side, ordered by their other ends.
    void add_routes(LayeredLayout& layout, double left, const std::vector<double>& top,
                    const std::vector<double>& height) const {
        std::vector<double> leaves(chains_.size()), arrives(chains_.size());
        spread(leaves, true);
        spread(arrives, false);
        for (size_t e = 0; e < chains_.size(); ++e) {
            QPolygonF route;
            const std::vector<int>& chain = chains_[e];
            const auto box = [&](int i) { return layout.top_left[static_cast<size_t>(i)]; };
            const Item& upper_box = items_[static_cast<size_t>(chain.front())];
            const Item& lower_box = items_[static_cast<size_t>(chain.back())];
            const auto upper_layer = static_cast<size_t>(upper_box.layer),
                       lower_layer = static_cast<size_t>(lower_box.layer);
            const double from_bottom = box(chain.front()).y() + upper_box.height;
            route << QPointF(leaves[e] - left, from_bottom);
            // The edge runs straight past taller boxes of the same layer.
            if (const double bottom = top[upper_layer] + height[upper_layer]; bottom > from_bottom + 1) {
                route << QPointF(leaves[e] - left, bottom);
            }
            for (size_t i = 1; i + 1 < chain.size(); ++i) {
                const Item& lane = items_[static_cast<size_t>(chain[i])];
                const auto layer = static_cast<size_t>(lane.layer);
                route << QPointF(lane.x - left, top[layer]) << QPointF(lane.x - left, top[layer] + height[layer]);
            }
            if (box(chain.back()).y() > top[lower_layer] + 1) {
                route << QPointF(arrives[e] - left, top[lower_layer]);
            }
            route << QPointF(arrives[e] - left, box(chain.back()).y());
            layout.routes.push_back(std::move(route));
        }
    }

    void spread(std::vector<double>& x, bool leaving) const {
        std::vector<std::vector<size_t>> at(boxes_.size());
        for (size_t e = 0; e < chains_.size(); ++e) {
            at[static_cast<size_t>(leaving ? chains_[e].front() : chains_[e].back())].push_back(e);
        }
        const auto other = [&](size_t e) {
            const std::vector<int>& chain = chains_[e];
            return items_[static_cast<size_t>(leaving ? chain[1] : chain[chain.size() - 2])].x;
        };
        for (size_t b = 0; b < at.size(); ++b) {
            std::stable_sort(at[b].begin(), at[b].end(), [&](size_t a, size_t c) { return other(a) < other(c); });
            const double room = std::min(items_[b].width * 0.6, 24.0 * static_cast<double>(at[b].size() - 1));
            for (size_t i = 0; i < at[b].size(); ++i) {
                const double part =
                    at[b].size() > 1 ? static_cast<double>(i) / static_cast<double>(at[b].size() - 1) : 0.5;
                x[at[b][i]] = items_[b].x + (at[b].size() > 1 ? (part - 0.5) * room : 0);
            }
        }
    }

    const std::vector<QSizeF>& boxes_;
    const std::vector<LayoutEdge>& edges_;
    const LayoutSpacing& spacing_;
    const Progress& progress_;
    std::vector<bool> upward_;
    std::vector<Item> items_;  // boxes first, in their order
    std::vector<std::vector<int>> chains_, layers_;
};

}  // namespace

std::optional<LayeredLayout> lay_out(const std::vector<QSizeF>& boxes, const std::vector<LayoutEdge>& edges,
                                     const LayoutSpacing& spacing, const Progress& progress, int first, int last) {
    return Layouter(boxes, edges, spacing, progress).run(first, last);
}

}  // namespace tidemark::gui
