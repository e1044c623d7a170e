// Simplified Chinese: headings and labels of reports (storage/report). Each row: English, Chinese.
#pragma once

#include "storage/explain/words_zh_cn.h"

namespace tidemark::zh_cn {

inline constexpr Translation report[] = {
    // of several files
    {"Bytes", "字节"},
    {"How sure:", "把握："},
    {"Look at", "看这里"},
    {"Not known", "未知"},
    {"Not recorded", "没有记录"},
    {"What every program has", "每个程序都有的"},
    {"What helps", "怎样解决"},
    {"What was found", "发现"},
    {"Where the memory is", "显存在哪里"},
    // charts.cpp
    {"What stays: the lowest allocated memory of each step", "留下来的：每一步中已分配显存的最低值"},
    {"What stays: the lowest allocated memory of each round", "留下来的：每一轮中已分配显存的最低值"},
    {"What this line holds at the end of each step", "这一行代码在每一步结束时占用的显存"},
    {"What this line holds at the end of each round", "这一行代码在每一轮结束时占用的显存"},
    // layers_chart.cpp
    {"What the GPU's memory is made of, while most happened", "GPU 显存的组成（事件最密集的时段）"},
    {"What the GPU's memory is made of, over time", "GPU 显存的组成随时间的变化"},
    {"nvidia-smi", "nvidia-smi"},
    {"a step begins", "一步开始"},
    {"a round begins", "一轮开始"},
    {"every {n}th step begins", "每 {n} 步标一次开始"},
    {"every {n}th round begins", "每 {n} 轮标一次开始"},
    // phrases.cpp
    {"Leak", "泄漏"},
    {"Failure", "失败"},
    {"Waste", "浪费"},
    {"Pattern", "正常现象"},
    {"Background", "固有占用"},
    {"certain", "确定"},
    {"likely", "很可能"},
    {"possible", "可能"},
    {"libraries, past PyTorch's allocator", "绕过 PyTorch 分配器的库"},
    {"Device {device}", "设备 {device}"},
    {"Device {device} ({name})", "设备 {device}（{name}）"},
    {"total, as nvidia-smi shows it", "合计，即 nvidia-smi 显示的数值"},
    {"total of what is known; nvidia-smi may show more", "已知部分合计；nvidia-smi 可能显示更多"},
    {"Count", "数量"},
    {"Grows", "增长"},
    {"{bytes} {each_iteration}", "{each_iteration} {bytes}"},
    {"Since", "始于"},
    {"Line", "代码行"},
    {"Held by", "持有者"},
    {"allocation {id}", "分配 {id}"},
    {"node {id}", "节点 {id}"},
    {"until {time}", "到 {time} 为止"},
    {"Gives back {bytes}, and {more} {each_iteration}.", "可收回 {bytes}，并且{each_iteration}少占 {more}。"},
    {"Gives back {bytes}.", "可收回 {bytes}。"},
    {"Gives back {more} {each_iteration}.", "{each_iteration}少占 {more}。"},
    {"{confidence}. {basis}", "{confidence}。{basis}"},
    {"{bytes}, {more} {each_iteration}", "{bytes}，{each_iteration} {more}"},
    {"{title} ({size})", "{title}（{size}）"},
    // report_html.cpp
    {"Why memory went up: {trace}", "显存为什么上涨：{trace}"},
    {"{trace}, explained by Tidemark {version}. Flags, bars and columns tell more under the pointer.",
     "{trace}，由 Tidemark {version} 解释。把指针停在旗标、色条和图上可以看到更多。"},
    // report_markdown.cpp
    {"Share", "占比"},
    // report_text.cpp
    {"What helps, each by itself", "怎样解决（任选其一）"},
};

}  // namespace tidemark::zh_cn
