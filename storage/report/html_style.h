// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The style sheet of HTML reports: light or dark, according to the reader's system. The colors of the color key are in
// html_colors.h.
#pragma once

#include <string_view>

namespace tidemark {

constexpr std::string_view html_style = R"css(
:root { color-scheme: light dark; --page: #fff; --card: #f6f7f9; --text: #1b1f24; --quiet: #5b6470; --rule: #d8dde3;
  --strong: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --page: #15181c; --card: #1e2329; --text: #e4e8ec; --quiet: #9aa4af;
  --rule: #353c45; --strong: #6cb6ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); overflow-wrap: break-word;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1.2rem 3rem; }
h1 { font-size: 1.55rem; line-height: 1.3; margin: .2rem 0 .6rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
h4 { font-size: .95rem; margin: 1rem 0 .2rem; } p { margin: .5rem 0; } .quiet { color: var(--quiet); font-size: .9rem; }
.summary p { font-size: 1.08rem; } section.device + section.device { border-top: 3px solid var(--rule); margin-top: 3rem; padding-top: 1rem; }
code, pre { font: .88em ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace; }
pre { background: var(--page); border: 1px solid var(--rule); border-radius: 6px; padding: .6rem .8rem; overflow-x: auto; margin: .4rem 0; }
pre.source i { display: inline-block; width: 4em; padding-right: 1em; text-align: right; font-style: normal; color: var(--quiet); user-select: none; }
pre.source .marked { display: inline-block; min-width: 100%; background: var(--rule); font-weight: 600; }
pre.source b { display: inline-block; width: 7em; padding-right: 1em; text-align: right; font-weight: 400; color: var(--quiet); }
pre.source b.leak { color: var(--leak); font-weight: 600; }
pre.source .head { color: var(--quiet); }
pre .removed { color: var(--leak); } pre .added { color: var(--pattern); }
.bar { display: flex; height: 1.4rem; border-radius: 5px; overflow: hidden; background: var(--rule); margin: .5rem 0; }
.bar i { display: block; min-width: 1px; } table { border-collapse: collapse; width: 100%; }
td { padding: .2rem .5rem; border-bottom: 1px solid var(--rule); vertical-align: top; } th { padding: .2rem .5rem; font-weight: 400; color: var(--quiet); text-align: left; border-bottom: 1px solid var(--rule); } td.number, th.number { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; } tr.total td { font-weight: 600; border-bottom: 0; }
path.band { stroke: var(--page); stroke-width: .6; }
i.key, .legend i { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .45em; vertical-align: -.05em; }
figure { margin: 1.2rem 0; } figcaption { font-weight: 600; margin-bottom: .3rem; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .15rem 1.1rem; padding: 0; margin: .3rem 0 0; font-size: .88rem; color: var(--quiet); }
.legend i.smi { height: 0; width: 1.3em; border-top: 2px solid var(--text); background: none; vertical-align: .28em; border-radius: 0; }
.legend i.series { height: 0; width: 1.3em; border-width: 2px 0 0; border-style: solid; vertical-align: .28em; border-radius: 0; }
.legend i.iteration { width: 0; border-left: 1px dashed var(--quiet); border-radius: 0; }
svg.plot { width: 100%; height: auto; display: block; } svg.plot text { font-size: 12px; fill: var(--quiet); }
.grid { stroke: var(--rule); fill: none; } .axis { stroke: var(--quiet); fill: none; } path.series { stroke-width: 1.2; fill: none; } .smi { stroke: var(--text); stroke-width: 1.6; fill: none; }
.iteration { stroke: var(--quiet); stroke-dasharray: 2 3; opacity: .55; fill: none; } path.level { stroke: var(--strong); stroke-width: 1.8; fill: none; }
circle.level { fill: var(--strong); } .column { fill: transparent; } .column:hover { fill: var(--text); opacity: .14; }
path.peak { fill: var(--text); stroke: var(--page); stroke-width: .8; } svg.plot text.peak, svg.plot text.band { fill: var(--text); }
svg.plot text.peak, svg.plot text.failure, svg.plot text.band { paint-order: stroke; stroke: var(--page); stroke-width: 4px; stroke-linejoin: round; }
path.failure { stroke: currentColor; stroke-width: 1.6; fill: none; } svg.plot text.failure { fill: currentColor; }
path.curve { stroke: currentColor; stroke-width: 1.6; fill: none; } path.under-curve { fill: currentColor; opacity: .27; }
.flag path { stroke: currentColor; stroke-dasharray: 3 2; fill: none; opacity: .8; } .flag rect { fill: currentColor; }
svg.plot .flag text { fill: var(--page); font-weight: 700; font-size: 11px; }
details.finding { background: var(--card); border: 1px solid var(--rule); border-left: 4px solid currentColor; border-radius: 6px; padding: .6rem 1rem; margin: .8rem 0; }
details.finding > * { color: var(--text); } details.finding > summary { cursor: pointer; font-weight: 600; }
summary .severity { border: 1px solid currentColor; border-radius: 99px; padding: 0 .6em; font-size: .8rem; margin: 0 .35em; white-space: nowrap; }
summary .size { color: var(--quiet); font-weight: 400; font-size: .9rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .6rem 0; } dt { color: var(--quiet); } dd { margin: 0; }
ol.path { list-style: none; padding: 0; } ol.path li { display: grid; grid-template-columns: 1fr minmax(9rem, 30%); gap: 0 1rem;
  position: relative; padding: .15rem 0 .15rem 1.3rem; } ol.path li::before { content: ""; position: absolute; left: .1rem; top: .62em; width: .6em;
  height: .6em; border-radius: 50%; background: var(--strong); } ol.path li.node::before { border-radius: 2px; } ol.path li.skipped::before { background: none; }
ol.path li:not(:last-child)::after { content: ""; position: absolute; left: calc(.1rem + .27em); top: 1.2em; bottom: -.6em; border-left: 2px solid var(--rule); }
ol.path .size { position: relative; } ol.path b { position: relative; font-weight: 400; padding-left: .4em; font-variant-numeric: tabular-nums; }
ol.path .size i { position: absolute; left: 0; top: .1em; bottom: .1em; min-width: 2px; background: var(--strong); opacity: .25; }
ul, ol { padding-left: 1.3rem; margin: .3rem 0; } li { margin: .15rem 0; } .time-point { color: var(--strong); user-select: all; }
footer { margin-top: 3rem; border-top: 1px solid var(--rule); padding-top: .6rem; }
@media print { details.finding { break-inside: avoid; } .column { display: none; } }
)css";

}  // namespace tidemark
