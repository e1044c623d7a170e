// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/main_loop.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "storage/base/median.h"
#include "storage/explain/exact_repeats.h"
#include "storage/explain/python_paths.h"

namespace tidemark {
namespace {

constexpr size_t fewest_iterations = 3;
constexpr size_t fewest_iterations_of_one_line = 5;
constexpr size_t most_loops_of_function = 32;
constexpr double least_covered = 0.25;  ///< of the events

/// A jump from one line of a called function back to an earlier one.
struct Jump {
    PathId from = 0, to = 0;
};

/// A call of a function: its caller and its code, whatever its line.
using CodeKey = std::tuple<PathId, StringId, StringId>;

struct Lines {
    int32_t first = 0, last = 0;
    auto operator<=>(const Lines&) const = default;

    bool has(int32_t line) const { return first <= line && line <= last; }
    bool contains(const Lines& other) const { return first <= other.first && other.last <= last; }
};

/// The jumps within one function, by the lines between which they jump.
struct JumpsOfFunction {
    std::map<Lines, std::vector<EventNumber>> events;
    std::map<Lines, Jump> examples;
};

/// A loop that may be the main one.
struct Candidate {
    PathId caller = 0;
    Lines lines;
    Loop loop;
    int64_t amplitude = 0;  ///< bytes that rise and fall within an iteration, typically
    double covered = 0;     ///< of the events, 0 to 1
    double unevenness = 0;  ///< of the lengths of iterations: standard deviation relative to the mean

    double regularity() const { return covered / (1 + unevenness); }
};

class LoopFinder {
public:
    LoopFinder(const Trace& trace, const DeviceHistory& device, EventNumber from, EventNumber to)
        : trace_(trace), paths_(trace.stacks, &device.allocations), device_(device), from_(from), to_(to) {
        collect_jumps();
    }

    const PythonPaths& paths() const { return paths_; }

    std::vector<Candidate> candidates() const {
        std::vector<Candidate> found;
        for (const auto& [code, jumps] : functions_) {
            add_loops(jumps, found);
        }
        return found;
    }

    /// Returns the lines that allocate again and again, each with all of its allocations, and with those of one size:
    /// an operator may allocate several times. One line that stands for a whole loop cannot be told from a
    /// comprehension.
    std::vector<Candidate> single_lines() const {
        std::unordered_map<PathId, std::vector<EventNumber>> all, after_backward;
        std::map<std::pair<PathId, uint64_t>, std::vector<EventNumber>> of_one_size;
        for_each_allocation([&](const Step& step) {
            if (!paths_.is_part_of_iteration(step.now)) {
                all[step.now].push_back(step.event);
                of_one_size[{step.now, step.size}].push_back(step.event);
                if (step.after_native) {
                    after_backward[step.now].push_back(step.event);
                }
            }
        });
        std::vector<Candidate> found;
        const auto add = [&](PathId path, std::vector<EventNumber> iterations) {
            if (iterations.size() >= fewest_iterations_of_one_line) {
                const FrameId frame = paths_.frame_id(path);
                found.push_back({paths_.caller(path), {}, {frame, frame, std::move(iterations), {}}});
            }
        };
        for (auto& [line, iterations] : of_one_size) {
            if (iterations.size() < all[line.first].size()) {
                add(line.first, std::move(iterations));
            }
        }
        for (auto& [path, iterations] : all) {
            std::vector<EventNumber>& sure = after_backward[path];
            const bool is_training = sure.size() >= fewest_iterations_of_one_line;
            add(path, std::move(is_training ? sure : iterations));
        }
        std::sort(found.begin(), found.end(),
                  [](const Candidate& a, const Candidate& b) { return a.loop.iterations < b.loop.iterations; });
        return found;
    }

    /// Returns the iterations, including those that begin when the program enters the loop anew.
    std::vector<EventNumber> all_iterations(const Candidate& candidate) const {
        const Lines& lines = candidate.lines;
        const std::vector<int32_t> line_of = lines_in_function(candidate);
        std::vector<EventNumber> iterations;
        for_each_allocation([&](const Step& step) {
            const int32_t line = line_of[step.now], last = line_of[step.before];
            const bool is_entry = lines.has(line) && !lines.has(last);
            const bool is_jump = line != 0 && line <= lines.first && last >= lines.last;
            if (is_entry || is_jump) {
                iterations.push_back(step.event);
            }
        });
        return iterations;
    }

private:
    /// An allocation with a Python stack, after another one of its thread.
    struct Step {
        EventNumber event = 0;
        uint64_t size = 0;  ///< requested bytes
        PathId before = 0, now = 0;
        bool after_native = false;  ///< whether code without Python frames, as in backward(), allocated between them
    };

    /// Calls visit(step) for the allocations with a Python stack. Threads differ in their number, or, if it was not
    /// recorded, in their outermost function.
    template <class Visit>
    void for_each_allocation(Visit&& visit) const {
        const Allocations& allocations = device_.allocations;
        const auto& events = allocations.alloc_event;
        std::map<std::tuple<int64_t, StringId, StringId>, Step> last_of_thread;
        EventNumber native = 0;
        for (AllocationIndex a = 0; a < allocations.size(); ++a) {
            if (events[a] == before_history || events[a] < from_ || events[a] >= to_) {
                continue;
            }
            // A recorder gives allocations of a backward pass the stack of the forward pass.
            const bool is_backward = trace_.origins[allocations.origin[a]].phase == Phase::backward;
            const PathId path = is_backward ? 0 : paths_.of(allocations.stack[a]);
            if (path == 0) {
                native = events[a];
                continue;
            }
            const Frame& outermost = paths_.frame(paths_.outermost(path));
            Step& last =
                last_of_thread[{trace_.origins[allocations.origin[a]].thread, outermost.function, outermost.file}];
            last = {events[a], allocations.requested[a], last.now, path, native > last.event};
            visit(std::as_const(last));
        }
    }

    void collect_jumps() {
        for_each_allocation([&](const Step& step) {
            if (const auto& jump = jump_between(step.before, step.now)) {
                const Frame& frame = paths_.frame(jump->to);
                JumpsOfFunction& jumps = functions_[{paths_.caller(jump->to), frame.function, frame.file}];
                const Lines lines{frame.line, paths_.frame(jump->from).line};
                jumps.events[lines].push_back(step.event);
                jumps.examples.try_emplace(lines, *jump);
            }
        });
    }

    const std::optional<Jump>& jump_between(PathId before, PathId now) {
        const auto [found, is_new] = known_.try_emplace(uint64_t{before} << 32 | now);
        if (is_new && before != 0) {
            found->second = find_jump(before, now);
        }
        return found->second;
    }

    std::optional<Jump> find_jump(PathId before, PathId now) const {
        const auto [left, entered] = paths_.where_they_part(before, now);
        const bool is_jump = left != 0 && entered != 0 && !paths_.is_part_of_iteration(left) &&
                             paths_.is_same_function(paths_.frame_id(left), paths_.frame_id(entered)) &&
                             paths_.frame(entered).line < paths_.frame(left).line;
        return is_jump ? std::optional(Jump{left, entered}) : std::nullopt;
    }

    /// Each pair of lines is a loop; jumps over more lines, of an outer loop, begin iterations of it, too.
    void add_loops(const JumpsOfFunction& jumps, std::vector<Candidate>& found) const {
        std::vector<std::pair<size_t, Lines>> most;
        for (const auto& [lines, events] : jumps.events) {
            if (events.size() + 1 >= fewest_iterations) {
                most.emplace_back(events.size(), lines);
            }
        }
        std::sort(most.rbegin(), most.rend());
        most.resize(std::min(most.size(), most_loops_of_function));
        for (const auto& [count, lines] : most) {
            const Jump& jump = jumps.examples.at(lines);
            Loop loop{paths_.frame_id(jump.to), paths_.frame_id(jump.from), iterations_of(lines, jumps), {}};
            found.push_back({paths_.caller(jump.to), lines, std::move(loop)});
        }
    }

    std::vector<EventNumber> iterations_of(const Lines& lines, const JumpsOfFunction& jumps) const {
        std::vector<EventNumber> iterations;
        for (const auto& [other, events] : jumps.events) {
            if (other.contains(lines)) {
                iterations.insert(iterations.end(), events.begin(), events.end());
            }
        }
        std::sort(iterations.begin(), iterations.end());
        return iterations;
    }

    /// Returns, for each path, the line at which it passes through the function of a loop; 0 if it does not.
    std::vector<int32_t> lines_in_function(const Candidate& candidate) const {
        const PathId caller = candidate.caller;
        std::vector<int32_t> lines(paths_.size());
        for (PathId path = 1; path < paths_.size(); ++path) {
            const bool is_called =
                paths_.caller(path) == caller && paths_.is_same_function(paths_.frame_id(path), candidate.loop.first);
            lines[path] = is_called ? paths_.frame(path).line : lines[paths_.caller(path)];
        }
        return lines;
    }

    const Trace& trace_;
    PythonPaths paths_;
    const DeviceHistory& device_;
    EventNumber from_, to_;
    std::unordered_map<uint64_t, std::optional<Jump>> known_;
    std::map<CodeKey, JumpsOfFunction> functions_;
};

/// Measures what tells the main loop.
void measure(Candidate& candidate, const Curves& curves, EventNumber from, EventNumber to) {
    const std::vector<EventNumber>& iterations = candidate.loop.iterations;
    std::vector<int64_t> amplitudes;
    double sum = 0, squares = 0;
    for (size_t i = 0; i + 1 < iterations.size(); ++i) {
        const auto range = curves.extremes(Series::allocated, iterations[i], iterations[i + 1]);
        // What an iteration leaves is no memory that it uses: several iterations of a growing loop leave several times
        // as much.
        const int64_t left =
            curves.value(Series::allocated, iterations[i + 1]) - curves.value(Series::allocated, iterations[i]);
        amplitudes.push_back(range.max - range.min - std::llabs(left));
        const double length = iterations[i + 1] - iterations[i];
        sum += length;
        squares += length * length;
    }
    const auto count = static_cast<double>(amplitudes.size());
    const double mean = sum / count;
    candidate.amplitude = median(std::move(amplitudes));
    candidate.unevenness = std::sqrt(std::max(0.0, squares / count - mean * mean)) / mean;
    candidate.covered = std::min(1.0, mean * (count + 1) / (to - from));
}

/// Returns the number of iterations if `candidate` is the loop `loop`, with fewer lines, and almost as regular;
/// otherwise 0. The last lines of a body may run in every sixth iteration only: the jumps from there are as regular as
/// those of all iterations.
size_t iterations_of_loop(const Candidate& candidate, const Candidate& loop) {
    constexpr double almost = 0.8;
    const bool is_same = candidate.caller == loop.caller && candidate.loop.first == loop.loop.first &&
                         loop.lines.contains(candidate.lines);
    return is_same && candidate.regularity() >= almost * loop.regularity() ? candidate.loop.iterations.size() : 0;
}

/// Moves the main loop to the front. Returns false if there is none.
bool select(std::vector<Candidate>& candidates, const Curves& curves, EventNumber from, EventNumber to) {
    int64_t largest = 0;
    for (Candidate& candidate : candidates) {
        measure(candidate, curves, from, to);
        largest = std::max(largest, candidate.amplitude);
    }
    std::erase_if(candidates,
                  [&](const Candidate& c) { return c.amplitude * 2 < largest || c.covered < least_covered; });
    if (candidates.empty()) {
        return false;
    }
    const auto best =
        std::max_element(candidates.begin(), candidates.end(),
                         [](const Candidate& a, const Candidate& b) { return a.regularity() < b.regularity(); });
    const auto each =
        std::max_element(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
            return iterations_of_loop(a, *best) < iterations_of_loop(b, *best);
        });
    std::iter_swap(candidates.begin(), each);
    return true;
}

}  // namespace

std::optional<Loop> find_main_loop(const Trace& trace, const DeviceHistory& device, const Curves& curves,
                                   EventNumber from, EventNumber to) {
    const LoopFinder finder(trace, device, from, to);
    if (auto loops = finder.candidates(); select(loops, curves, from, to)) {
        loops.front().loop.iterations = finder.all_iterations(loops.front());
        return std::move(loops.front().loop);
    }
    if (auto lines = finder.single_lines(); select(lines, curves, from, to)) {
        return std::move(lines.front().loop);
    }
    return find_exact_repeats(finder.paths(), device, curves, from, to);
}

}  // namespace tidemark
