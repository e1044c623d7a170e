#include "storage/report/phrases.h"

#include "storage/base/units.h"
#include "storage/explain/telling.h"

namespace tidemark {
namespace {

std::string signed_bytes(int64_t bytes) { return (bytes > 0 ? "+" : "") + format_bytes(bytes); }

/// "step 3 (1.234567 s)", or only one of them.
std::string since_value(const Told& told, const Finding& finding, const Words& words) {
    const std::string time = finding.since ? format_moment(*finding.since) : "";
    if (!finding.since_round) {
        return time;
    }
    const bool is_step = told.of.rounds().source() == RoundSource::steps;
    const auto number = with("number", *finding.since_round);
    const std::string round = is_step ? words("step {number}", number) : words("round {number}", number);
    return time.empty() ? round : fmt::format("{} ({})", round, time);
}

}  // namespace

std::string verdict_title(const Words& words, Verdict verdict) {
    switch (verdict) {
        case Verdict::leak: return words("Leak");
        case Verdict::failure: return words("Failure");
        case Verdict::waste: return words("Waste");
        case Verdict::pattern: return words("Pattern");
        case Verdict::background: return words("Background");
    }
    return {};
}

std::string confidence_title(const Words& words, Confidence confidence) {
    switch (confidence) {
        case Confidence::certain: return words("certain");
        case Confidence::likely: return words("likely");
        case Confidence::possible: return words("possible");
    }
    return {};
}

std::string layer_title(const Words& words, LayerKind kind) {
    switch (kind) {
        case LayerKind::requested: return words("the program's tensors");
        case LayerKind::rounding: return words("rounding of block sizes");
        case LayerKind::waiting: return words("freed, but waiting for a stream");
        case LayerKind::free_in_segments: return words("free gaps between tensors");
        case LayerKind::idle_segments: return words("freed memory that PyTorch keeps for later");
        case LayerKind::private_pools: return words("free, but reserved for CUDA graphs and private pools");
        case LayerKind::library: return words("libraries, past PyTorch's allocator");
        case LayerKind::context: return words("the CUDA context");
        case LayerKind::kernels: return words("loaded kernels");
        case LayerKind::other_processes: return words("other programs on this GPU");
        case LayerKind::unknown: return words("not explained by what was recorded");
    }
    return {};
}

std::string page_title(const Told& told, const Words& words) {
    const Explanation& explanation = told.explanation;
    const auto device = with("device", explanation.device);
    std::string title = explanation.device_name.empty()
                            ? words("Device {device}", device)
                            : words("Device {device} ({name})", device, with("name", explanation.device_name));
    for (const std::string& part : {explanation.moment, format_moment(explanation.time)}) {
        title += part.empty() ? "" : words(", ") + part;
    }
    return title;
}

std::string total_phrase(const Told& told, const Words& words) {
    return told.of.row().device_used ? words("total, as nvidia-smi shows it")
                                     : words("total of what is known; nvidia-smi may show more");
}

std::vector<Fact> facts_of(const Told& told, const Finding& finding, const Words& words) {
    std::vector<Fact> facts;
    const auto add = [&](std::string label, std::string value) {
        if (!value.empty()) {
            facts.push_back({std::move(label), std::move(value)});
        }
    };
    add(words("Bytes"), finding.bytes == 0 && finding.per_round ? "" : format_bytes(finding.bytes));
    add(words("Count"), finding.count > 1 ? format_count(finding.count) : "");
    add(words("Grows"), finding.per_round
                            ? words("{bytes} {each_round}", with("bytes", signed_bytes(*finding.per_round)),
                                    with("each_round", each_round(told.of, words)))
                            : "");
    add(words("Since"), since_value(told, finding, words));
    add(words("Line"), finding.line);
    add(words("Held by"), finding.holder);
    return facts;
}

std::string moment_argument(const Evidence& evidence) {
    return evidence.event  ? fmt::format("event:{}", *evidence.event)
           : evidence.time ? fmt::format("time:{}ns", *evidence.time)
                           : "";
}

std::string evidence_ids(const Told& told, const Evidence& evidence, const Words& words) {
    std::vector<std::string> ids;
    if (evidence.allocation) {
        const DeviceHistory& device = told.of.trace().devices[evidence.allocation.device];
        ids.push_back(words("allocation {id}", with("id", device.allocation_id(evidence.allocation.index))));
    }
    if (evidence.node != no_node && told.of.graph() != nullptr) {
        ids.push_back(words("node {id}", with("id", told.of.graph()->tables().nodes.id[evidence.node])));
    }
    if (evidence.until) {
        ids.push_back(words("until {time}", with("time", format_moment(*evidence.until))));
    }
    std::string text;
    for (const std::string& id : ids) {
        text += (text.empty() ? "" : words(", ")) + id;
    }
    return text;
}

std::string gain_phrase(const Told& told, const Fix& fix, const Words& words) {
    const auto bytes = with("bytes", format_bytes(fix.bytes.value_or(0)));
    const auto more = with("more", format_bytes(fix.per_round.value_or(0)));
    const auto round = with("each_round", each_round(told.of, words));
    if (fix.bytes && fix.per_round) {
        return words("Gives back {bytes}, and {more} {each_round}.", bytes, more, round);
    }
    if (fix.bytes) {
        return words("Gives back {bytes}.", bytes);
    }
    return fix.per_round ? words("Gives back {more} {each_round}.", more, round) : "";
}

std::string confidence_phrase(const Finding& finding, const Words& words) {
    const std::string title = confidence_title(words, finding.confidence);
    return finding.basis.empty()
               ? title
               : words("{confidence}. {basis}", with("confidence", title), with("basis", finding.basis));
}

std::string size_phrase(const Told& told, const Finding& finding, const Words& words) {
    if (!finding.per_round) {
        return format_bytes(finding.bytes);
    }
    return words("{bytes}, {more} {each_round}", with("bytes", format_bytes(finding.bytes)),
                 with("more", signed_bytes(*finding.per_round)), with("each_round", each_round(told.of, words)));
}

std::string folded_phrase(const Told& told, const Finding& finding, const Words& words) {
    const std::string size = size_phrase(told, finding, words);
    const bool is_told = finding.title.find(format_bytes(finding.bytes)) != finding.title.npos && !finding.per_round;
    return is_told ? finding.title : words("{title} ({size})", with("title", finding.title), with("size", size));
}

std::string joined_sentences(const std::vector<std::string>& sentences) {
    std::string text;
    for (const std::string& sentence : sentences) {
        const bool needs_space = !text.empty() && !sentence.empty() && !text.ends_with("。") && !text.ends_with("！");
        text += (needs_space ? " " : "") + sentence;
    }
    return text;
}

}  // namespace tidemark
