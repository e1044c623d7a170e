// #16: freed memory that the allocator keeps for later.
#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 16 << 20;  ///< less than a segment is not worth a word

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    const int64_t cached = context.row().bytes_of(ComponentKind::cached_segments);
    const int64_t gaps = context.row().bytes_of(ComponentKind::free_in_segments);
    if (cached + gaps < least_bytes) {
        return;
    }
    Finding finding = diagnoses::cached_memory.new_finding();
    finding.basis = words("Replayed from the allocator's events: which segments hold blocks and which do not.");
    finding.bytes = cached + gaps;
    finding.component = cached >= gaps ? ComponentKind::cached_segments : ComponentKind::free_in_segments;
    finding.title =
        words("PyTorch keeps {bytes} of freed memory for later", with("bytes", format_bytes(finding.bytes)));
    finding.text = {words(
        "A tensor that is freed does not go back to the driver: PyTorch keeps its memory and serves the next tensor "
        "from it. nvidia-smi still counts it. {cached} of it lies in segments without any tensor and can be given "
        "back; "
        "{gaps} lies between tensors and cannot.",
        with("idle", format_bytes(cached)), with("gaps", format_bytes(gaps)))};
    finding.evidence = {
        at_component(context, words("Segments without any tensor: {bytes}", with("bytes", format_bytes(cached))),
                     ComponentKind::cached_segments),
        at_component(context, words("Gaps between tensors: {bytes}", with("bytes", format_bytes(gaps))),
                     ComponentKind::free_in_segments)};
    finding.fixes = {{words("Nothing needs mending. Only if another program needs the memory now:"),
                      "torch.cuda.empty_cache()",
                      cached,
                      {}}};
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::cached_memory{FindingKind::cached_memory, Severity::background, Phase::observation, run};

}  // namespace tidemark
