#include "recorder/cli/explained.h"

#include "recorder/cli/graph_view.h"

namespace tidemark::cli {

Result<std::vector<std::unique_ptr<const Case>>> open_cases(const MomentOptions& options, Progress& progress) {
    const auto trace = open_input(options.trace, progress);
    if (!trace) {
        return trace.error();
    }
    auto moments = moments_of(*trace, {options.trace, "end", options.device});
    if (!moments) {
        return moments.error();
    }
    auto read = read_whole_graph(*trace, progress);
    if (!read) {
        return read.error();
    }
    const std::shared_ptr<const Graph> graph = std::move(*read);
    std::vector<std::unique_ptr<const Case>> cases;
    for (DeviceMoment& moment : *moments) {
        cases.push_back(std::make_unique<const Case>(std::move(moment.analysis), graph));
    }
    return cases;
}

Result<std::vector<Explained>> explain_devices(const MomentOptions& options, const Words& words, Progress& progress) {
    auto cases = open_cases(options, progress);
    if (!cases) {
        return cases.error();
    }
    std::vector<Explained> devices;
    for (std::unique_ptr<const Case>& of : *cases) {
        Explanation explanation = explain(*of, words, progress);
        if (progress.cancelled) {
            return cancelled_error();
        }
        devices.push_back({std::move(of), std::move(explanation)});
    }
    return devices;
}

}  // namespace tidemark::cli
