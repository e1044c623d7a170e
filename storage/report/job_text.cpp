// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/units.h"
#include "storage/base/utf8.h"
#include "storage/report/job_report.h"
#include "storage/report/layout.h"
#include "storage/report/phrases.h"
#include "storage/report/text_page.h"

namespace tidemark {
namespace {

class JobPage {
public:
    JobPage(const JobReportInput& reported, const Words& words, const TextOptions& options)
        : reported_(reported), words_(words), page_(options) {}

    std::string write() {
        page_.paragraph(0, reported_.job.folder, dim);
        page_.empty_line();
        page_.paragraph(0, words_.sentences(reported_.explanation.summary), bold);
        gpus();
        findings();
        page_.list(words_("Not recorded"), reported_.explanation.unknowns);
        return page_.take();
    }

private:
    void gpus() {
        constexpr size_t most = 16;
        const auto& all = reported_.explanation.gpus;
        if (all.empty()) {
            return;
        }
        page_.heading(words_("Where the memory is, as nvidia-smi shows it, of each GPU"));
        for (size_t i = 0; i < std::min(most, all.size()); ++i) {
            gpu(all[i]);
        }
        if (all.size() > most) {
            page_.paragraph(0, words_.plural(static_cast<int64_t>(all.size() - most), "... and {n} more GPU.",
                                             "... and {n} more GPUs."));
        }
    }

    /// A row a GPU: its used part, and the processes that use it.
    void gpu(const GpuTotal& gpu) {
        page_.share_row(format_bytes(gpu_used(gpu)), gpu_share(gpu),
                        words_("{gpu}: {parts}", with("gpu", gpu_phrase(gpu, words_)),
                               with("parts", words_.list(gpu_parts(reported_, gpu, words_)))));
    }

    void findings() {
        size_t number = 0;
        for (const JobFinding& each : reported_.explanation.findings) {
            if (number == 0) {
                page_.heading(words_("Findings"));
            }
            finding(++number, each);
        }
    }

    void finding(size_t number, const JobFinding& finding) {
        if (number > 1) {
            page_.empty_line();
        }
        page_.labeled(0, fmt::format("{:>2}. ", number), bold,
                      fmt::format("{}: {}", severity_title(words_, finding.severity), finding.title),
                      color_of(finding.severity));
        if (finding.per_iteration) {
            page_.labeled(6, words_("Grows") + "  ", dim,
                          words_("{bytes} per iteration", with("bytes", format_bytes(*finding.per_iteration))));
        }
        if (!finding.line.empty()) {
            page_.labeled(6, words_("Line") + "  ", dim, finding.line);
        }
        for (const std::string& sentences : finding.text) {
            page_.paragraph(4, sentences);
        }
        if (!finding.fix.text.empty()) {
            page_.paragraph(4, words_("Recommended fix"), bold);
            page_.labeled(6, "- ", no_color, finding.fix.text);
            page_.code_of_fix(finding.fix.code, finding.fix.diff);
        }
        page_.labeled(
            4, words_("More:") + " ", bold,
            words_("tidemark explain {trace}", with("trace", reported_.job.members[finding.members.front()].path)));
    }

    const JobReportInput& reported_;
    const Words& words_;
    TextPage page_;
};

}  // namespace

std::string gpu_phrase(const GpuTotal& gpu, const Words& words) {
    const auto node = with("node", gpu.node), device = with("device", gpu.device);
    return gpu.node.empty() ? words("GPU {device}", device) : words("GPU {device} of {node}", device, node);
}

std::vector<std::string> gpu_parts(const JobReportInput& reported, const GpuTotal& gpu, const Words& words) {
    std::vector<std::string> parts;
    parts.reserve(gpu.parts.size() + 1);
    for (const GpuTotal::Part& part : gpu.parts) {
        parts.push_back(words("{process} {bytes}",
                              with("process", member_name(reported.job.members[part.member], words)),
                              with("bytes", format_bytes(part.bytes))));
    }
    if (gpu.rest > 0) {
        parts.push_back(words("others or unknown {bytes}", with("bytes", format_bytes(gpu.rest))));
    }
    return parts;
}

int64_t gpu_used(const GpuTotal& gpu) {
    int64_t known = gpu.rest;
    for (const GpuTotal::Part& part : gpu.parts) {
        known += part.bytes;
    }
    return gpu.used.value_or(known);
}

double gpu_share(const GpuTotal& gpu) {
    return gpu.total_bytes == 0 ? 0 : static_cast<double>(gpu_used(gpu)) / static_cast<double>(gpu.total_bytes);
}

std::string job_text(const JobReportInput& reported, const Words& words, const TextOptions& options) {
    return JobPage(reported, words, options).write();
}

}  // namespace tidemark
