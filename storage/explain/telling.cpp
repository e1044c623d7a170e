#include "storage/explain/telling.h"

#include <algorithm>

namespace tidemark {
namespace {

std::string moment_of_round(const Case& of, const Words& words, const Round& round) {
    const auto number = with("number", round.number);
    return of.rounds().source() == RoundSource::steps ? words("step {number}", number)
                                                      : words("round {number}", number);
}

}  // namespace

std::string line_of(const Trace& trace, StackId stack) {
    const FrameId frame = trace.stacks.user_frame(stack);
    return frame == 0 ? std::string() : describe_frame(trace.stacks, frame);
}

std::string doing_of(const Trace& trace, const Words& words, uint32_t origin) {
    const Origin& what = trace.origins[origin];
    std::vector<std::string> about;
    if (!what.module.empty()) {
        about.push_back(words("module `{module}`", with("module", what.module)));
    }
    if (what.phase == "backward" || what.phase == "forward" || what.phase == "optimizer") {
        about.push_back(what.phase == "backward"  ? words("backward pass")
                        : what.phase == "forward" ? words("forward pass")
                                                  : words("optimizer step"));
    }
    if (what.op.empty()) {
        return words.list(about);
    }
    return about.empty() ? what.op : words("{op} ({about})", with("op", what.op), with("about", words.list(about)));
}

std::string round_name(const Case& of, const Words& words, int64_t position) {
    const auto last = static_cast<int64_t>(of.rounds().size()) - 1;
    return last < 0
               ? std::string()
               : moment_of_round(of, words, of.rounds()[static_cast<size_t>(std::clamp<int64_t>(position, 0, last))]);
}

std::string round_words(const Case& of, const Words& words) {
    return of.rounds().source() == RoundSource::steps ? words("step") : words("round");
}

std::string each_round(const Case& of, const Words& words) {
    return of.rounds().source() == RoundSource::steps ? words("each step") : words("each round");
}

std::string moment_name(const Case& of, const Words& words) {
    if (of.out_of_memory() && of.now() == of.out_of_memory()->event + 1) {
        return words("the out-of-memory error");
    }
    const Rounds& rounds = of.rounds();
    if (!rounds.empty() && of.now() == rounds.all().back().last && rounds.source() != RoundSource::repetition) {
        return words("the end of {round}", with("round", moment_of_round(of, words, rounds.all().back())));
    }
    return words("the end of the run");
}

Evidence at_event(const Case& of, std::string text, EventNumber event) {
    Evidence evidence;
    evidence.text = std::move(text);
    evidence.event = event;
    evidence.time = of.device().time_of_state(event);
    return evidence;
}

Evidence at_round(const Case& of, std::string text, int64_t position) {
    const Round& round = of.rounds()[static_cast<size_t>(position)];
    Evidence evidence = at_event(of, std::move(text), round.last);
    evidence.time = of.device().time_of_state(std::min(round.first + 1, round.last));
    evidence.until = round.end;
    return evidence;
}

Evidence at_allocation(const Case& of, std::string text, AllocationIndex allocation) {
    const EventNumber made = of.device().allocations.alloc_event[allocation];
    Evidence evidence = at_event(of, std::move(text), made + 1);
    evidence.allocation = {of.device_position(), allocation};
    evidence.stack = of.device().allocations.stack[allocation];
    return evidence;
}

Evidence at_node(const Case& of, std::string text, NodeIndex node) {
    Evidence evidence = at_event(of, std::move(text), of.now());
    evidence.node = node;
    if (of.graph()) {
        evidence.stack = of.graph()->tables().nodes.stack[node];
    }
    return evidence;
}

Evidence at_layer(const Case& of, std::string text, LayerKind layer) {
    Evidence evidence = at_event(of, std::move(text), of.now());
    evidence.layer = layer;
    return evidence;
}

void set_line(Finding& finding, const Case& of, StackId stack) {
    finding.stack = stack;
    finding.line = line_of(of.trace(), stack);
}

void set_since(Finding& finding, const Case& of, size_t round) {
    finding.since = of.rounds()[round].start;
    finding.since_round = of.rounds()[round].number;
}

}  // namespace tidemark
