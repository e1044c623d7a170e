// Simplified Chinese: headings and labels of reports (storage/report). Each row: English, Chinese.
#pragma once

#include "storage/explain/words_zh_cn.h"

namespace tidemark::zh_cn {

inline constexpr Translation report[] = {
    // of several files
    {"Bytes", "字节"},
    {"Confidence:", "可信度："},
    {"Evidence", "证据"},
    {"Unknown", "未知"},
    {"Not recorded", "没有记录"},
    {"What every program has", "每个程序都有的"},
    {"Recommended fix", "建议的修复"},
    {"Findings", "发现"},
    {"Where the memory is", "显存在哪里"},
    // charts.cpp
    {"What stays: the lowest allocated memory of each step", "常驻显存：每一步中已分配显存的最低值"},
    {"What stays: the lowest allocated memory of each iteration", "常驻显存：每次迭代中已分配显存的最低值"},
    {"Memory from this line at the end of each step", "这一行代码的显存，每一步结束时"},
    {"Memory from this line at the end of each iteration", "这一行代码的显存，每次迭代结束时"},
    // layers_chart.cpp
    {"Memory breakdown during the busiest period", "内存构成（事件最密集的时段）"},
    {"Memory breakdown over time", "内存构成随时间的变化"},
    {"nvidia-smi", "nvidia-smi"},
    {"a step begins", "一步开始"},
    {"an iteration begins", "一次迭代开始"},
    {"every {n}th step begins", "每 {n} 步标一次开始"},
    {"every {n}th iteration begins", "每 {n} 次迭代标一次开始"},
    // phrases.cpp
    {"Leak", "泄漏"},
    {"Failure", "失败"},
    {"Waste", "浪费"},
    {"Pattern", "正常现象"},
    {"Background", "固有占用"},
    {"certain", "确定"},
    {"likely", "很可能"},
    {"possible", "可能"},
    {"libraries, outside PyTorch's allocator", "PyTorch 分配器之外的库"},
    {"Device {device}", "设备 {device}"},
    {"Device {device} ({name})", "设备 {device}（{name}）"},
    {"total, as nvidia-smi shows it", "合计，即 nvidia-smi 显示的数值"},
    {"known total; nvidia-smi may show more", "已知部分合计；nvidia-smi 可能显示更多"},
    {"Count", "数量"},
    {"Grows", "增长"},
    {"{bytes} {each_iteration}", "{each_iteration} {bytes}"},
    {"Since", "始于"},
    {"Line", "代码行"},
    {"Retained by", "引用方"},
    {"allocation {id}", "分配 {id}"},
    {"node {id}", "节点 {id}"},
    {"until {time}", "到 {time} 为止"},
    {"Frees {bytes}, and {more} {each_iteration}.", "可释放 {bytes}，并且{each_iteration}少占 {more}。"},
    {"Frees {bytes}.", "可释放 {bytes}。"},
    {"Frees {more} {each_iteration}.", "{each_iteration}少占 {more}。"},
    {"{confidence}. {basis}", "{confidence}。{basis}"},
    {"{bytes}, {more} {each_iteration}", "{bytes}，{each_iteration} {more}"},
    {"{title} ({size})", "{title}（{size}）"},
    // report_html.cpp
    {"Why memory went up: {trace}", "显存为什么上涨：{trace}"},
    {"{trace}, explained by Tidemark {version}. Markers, bars and columns show details under the pointer.",
     "{trace}，由 Tidemark {version} 解释。把指针停在标记、色条和图上可以看到详细信息。"},
    // report_markdown.cpp
    {"Share", "占比"},
    // report_text.cpp
    {"Recommended fixes, each sufficient by itself", "建议的修复（任选其一）"},
};

}  // namespace tidemark::zh_cn
