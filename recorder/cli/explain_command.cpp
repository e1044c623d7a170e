// tidemark explain: why memory went up and did not come down, in words.
#include "storage/explain/explain.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "recorder/cli/command.h"
#include "recorder/cli/explained.h"
#include "recorder/cli/output.h"
#include "recorder/cli/text_file.h"
#include "storage/report/report.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

struct ExplainOptions {
    TimePointOptions input;
    std::string format = "text", language, output;
    bool all = false, force = false;
};

std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view() : value;
}

/// What the user asked for, else what the machine's locale says.
Result<Language> language_of(const std::string& asked) {
    if (!asked.empty()) {
        const auto language = language_from_name(asked);
        return language ? Result<Language>(*language)
                        : usage_error(fmt::format("\"{}\" is not a language; use en or zh_CN.", asked));
    }
    for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
        if (const std::string_view value = variable(name); !value.empty()) {
            return language_from_name(value).value_or(Language::english);
        }
    }
    return Language::english;
}

int columns() {
    constexpr int narrowest = 40, readable = 100, widest = 400;
    int asked = 0;
    const std::string_view text = variable("COLUMNS");
    if (std::from_chars(text.data(), text.data() + text.size(), asked).ec == std::errc() && asked > 0) {
        return std::clamp(asked, narrowest, widest);
    }
    winsize size{};
    const bool is_terminal = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return is_terminal ? std::clamp<int>(size.ws_col, narrowest, readable) : readable;
}

TextOptions text_options(const ExplainOptions& options) {
    const bool is_terminal = options.output.empty() && ::isatty(STDOUT_FILENO) != 0;
    return {columns(), is_terminal && variable("NO_COLOR").empty() && variable("TERM") != "dumb", options.all};
}

std::string json_text(std::span<const ReportInput> devices) {
    auto list = ordered_json::array();
    for (const ReportInput& reported : devices) {
        list.push_back(report_json(reported));
    }
    return (list.size() == 1 ? list.front() : list).dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

std::string plain_report(std::span<const ReportInput> devices, const Words& words, const ExplainOptions& options) {
    std::string text;
    for (const ReportInput& reported : devices) {
        text += (text.empty() ? "" : "\n") + report_text(reported, words, text_options(options));
    }
    return text;
}

std::string report(std::span<const ReportInput> devices, const Words& words, const ExplainOptions& options) {
    return options.format == "json"       ? json_text(devices)
           : options.format == "html"     ? report_html(devices, words)
           : options.format == "markdown" ? report_markdown(devices, words)
                                          : plain_report(devices, words, options);
}

Status run_explain(const ExplainOptions& options, Progress& progress) {
    const auto language = language_of(options.language);
    if (!language) {
        return language.error();
    }
    if (!options.output.empty()) {
        TIDEMARK_TRY(may_write_report(options.output, options.force));
    }
    const Words words(*language);
    const auto devices = explain_devices(options.input, words, progress);
    if (!devices) {
        return devices.error();
    }
    std::vector<ReportInput> reported;
    for (const Explained& device : *devices) {
        reported.push_back({*device.context, device.explanation});
    }
    const std::string text = report(reported, words, options);
    return options.output.empty() ? print_clean(text) : write_text_file(options.output, text);
}

}  // namespace

void add_explain_command(CLI::App& app, Job& job) {
    auto options = std::make_shared<ExplainOptions>();
    CLI::App& command = add_command(
        app, "explain", "Why GPU memory went up and did not come down, in words",
        "Findings with their bytes, the line and the variable that cause them, what to look at (--at of the other\n"
        "commands), and what would mend them. Markdown is for tickets; HTML is one file with plots, to send or to "
        "keep.\n"
        "JSON is one object, or a list when there are several devices and none is chosen.",
        "  tidemark explain run.tide\n"
        "  tidemark explain run.tide --format html -o why.html");
    command.add_option("TRACE", options->input.trace, "A trace (.tide)")->required();
    command.add_option("--device", options->input.device, "Only this device (default: all)");
    command.add_option("--format", options->format, "text, json, markdown or html")
        ->check(CLI::IsMember({"text", "json", "markdown", "html"}))
        ->capture_default_str();
    command.add_option("--lang", options->language, "Language: en or zh_CN (default: that of the locale)");
    command.add_option("-o,--output", options->output, "The file to write (default: the terminal)");
    command.add_flag("--all", options->all, "Text: tell in full what every program has, too");
    command.add_flag("--force", options->force, "Replace a file that exists already");
    command.callback(
        [options, &job] { job = [options](Progress& progress) { return run_explain(*options, progress); }; });
}

}  // namespace tidemark::cli
