// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/graph_picture.h"

#include <algorithm>
#include <map>

#include "gui/graph/retained_memory.h"

namespace tidemark::gui {

GroupTotals GraphPicture::totals(const GraphBox& box) const {
    if (box.is_node()) {
        return totals_of(index(), *time_point, box.node);
    }
    if (box.rest >= 0) {
        return scene->rests[static_cast<size_t>(box.rest)].totals;
    }
    if (box.is_group()) {
        return outline->group(box.group).totals;
    }
    GroupTotals totals;
    totals.retained_bytes = referrer(box).retained_bytes;
    return totals;
}

std::span<const NodeIndex> GraphPicture::nodes(const GraphBox& box) const {
    return box.is_node()    ? std::span(&box.node, 1)
           : box.rest >= 0  ? std::span<const NodeIndex>(scene->rests[static_cast<size_t>(box.rest)].nodes)
           : box.is_group() ? outline->nodes(outline->group(box.group))
                            : std::span<const NodeIndex>(referrer(box).roots);
}

std::vector<AllocationIndex> GraphPicture::retained_allocations(const GraphBox& box, uint32_t device) const {
    const RetainedMemory retained(index(), time_point->time());
    std::vector<AllocationIndex> found;
    for (const NodeIndex node : nodes(box)) {
        if (!retained.retains(node)) {
            continue;
        }
        retained.for_each_saved(node, [&](uint32_t s) {
            const AllocationRef memory = index().tables().saved.allocation[s];
            if (memory.device == device && retained.is_allocated(memory)) {
                found.push_back(memory.index);
            }
        });
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

std::vector<int> boxes_with(const GraphPicture& picture, const std::vector<NodeIndex>& nodes) {
    const GraphOutline& outline = *picture.outline;
    std::vector<bool> wanted(outline.order().size());
    for (const NodeIndex node : nodes) {
        if (outline.contains(node)) {
            wanted[outline.position(node)] = true;
        }
    }
    const auto is_wanted = [&](NodeIndex node) { return wanted[outline.position(node)]; };
    std::vector<int> boxes;
    for (size_t b = 0; b < picture.scene->boxes.size(); ++b) {
        const GraphBox& box = picture.scene->boxes[b];
        const auto inside = picture.nodes(box);
        const bool found = !box.open && box.referrer < 0 && std::any_of(inside.begin(), inside.end(), is_wanted);
        if (found) {
            boxes.push_back(static_cast<int>(b));
        }
    }
    return boxes;
}

namespace {

class Marker {
public:
    explicit Marker(const GraphPicture& picture) : picture_(picture), scene_(*picture.scene) {
        marks_.boxes.resize(scene_.boxes.size());
        marks_.links.resize(scene_.links.size());
        for (size_t l = 0; l < scene_.links.size(); ++l) {
            links_.emplace(std::pair(scene_.links[l].from, scene_.links[l].to), l);
        }
    }

    void mark(NodeIndex node, GraphMarks::Mark mark) {
        if (const int box = box_of(node); box >= 0) {
            marks_.boxes[static_cast<size_t>(box)] |= mark;
            marks_.any = true;
        }
    }

    void mark_path(const std::vector<NodeIndex>& path) {
        int before = -1;
        if (const auto referrer = path.empty() ? scene_.by_root.end() : scene_.by_root.find(path.front());
            referrer != scene_.by_root.end()) {
            before = referrer->second;
            marks_.boxes[static_cast<size_t>(before)] |= GraphMarks::on_path;
        }
        for (const NodeIndex node : path) {
            const int box = box_of(node);
            if (box < 0) {
                continue;
            }
            marks_.boxes[static_cast<size_t>(box)] |= GraphMarks::on_path;
            if (before >= 0 && before != box) {
                mark_way(before, box);
            }
            before = box;
        }
    }

    void set_allocation(AllocationRef allocation) { marks_.allocation = allocation; }

    GraphMarks take() { return std::move(marks_); }

private:
    int box_of(NodeIndex node) const { return scene_.box_of(*picture_.outline, node); }
    int parent(int box) const { return scene_.boxes[static_cast<size_t>(box)].parent; }

    std::vector<int> frames_of(int box) const {
        std::vector<int> frames{box};
        while (parent(frames.back()) >= 0) {
            frames.push_back(parent(frames.back()));
        }
        return frames;
    }

    /// Marks the links out of the frames of one box, across, and into those of the other.
    void mark_way(int from, int to) {
        std::vector<int> up = frames_of(from), down = frames_of(to);
        while (up.size() > 1 && down.size() > 1 && up.back() == down.back()) {
            up.pop_back();
            down.pop_back();
        }
        for (size_t i = 0; i + 1 < up.size(); ++i) {
            mark_link(up[i], -1);
        }
        mark_link(up.back(), down.back());
        for (size_t i = 0; i + 1 < down.size(); ++i) {
            mark_link(-1, down[i]);
        }
    }

    void mark_link(int from, int to) {
        if (const auto found = links_.find({from, to}); found != links_.end()) {
            marks_.links[found->second] |= GraphMarks::on_path;
        }
    }

    const GraphPicture& picture_;
    const GraphScene& scene_;
    std::map<std::pair<int, int>, size_t> links_;
    GraphMarks marks_;
};

}  // namespace

GraphMarks mark_selection(const GraphPicture& picture, std::optional<NodeIndex> node, AllocationRef allocation) {
    Marker marker(picture);
    if (node) {
        marker.mark_path(picture.time_point->path_to(*node));
        marker.mark(*node, GraphMarks::selected);
    }
    if (allocation) {
        marker.set_allocation(allocation);
        const std::vector<uint32_t> retainers = picture.time_point->retainers(allocation);
        for (const uint32_t saved : retainers) {
            marker.mark(picture.index().saver(saved), GraphMarks::retains);
        }
        if (!retainers.empty()) {
            marker.mark_path(picture.time_point->path_to(picture.index().saver(retainers.front())));
        }
        if (const NodeIndex maker = picture.index().maker(allocation); maker != no_node) {
            marker.mark(maker, GraphMarks::allocates);
        }
    }
    return marker.take();
}

}  // namespace tidemark::gui
