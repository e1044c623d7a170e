<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en">
<context>
    <name>Annotations</name>
    <message numerus="yes">
        <source>garbage collection (%n object(s))</source>
        <translation>
            <numerusform>garbage collection (%n object)</numerusform>
            <numerusform>garbage collection (%n objects)</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Details</name>
    <message numerus="yes">
        <source>%n C++ frame(s)</source>
        <translation>
            <numerusform>%n C++ frame</numerusform>
            <numerusform>%n C++ frames</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>at least %1, %2 event(s)</source>
        <translation>
            <numerusform>at least %1, %2 event</numerusform>
            <numerusform>at least %1, %2 events</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1, %2 event(s)</source>
        <translation>
            <numerusform>%1, %2 event</numerusform>
            <numerusform>%1, %2 events</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This stack: %1 allocation(s) in all, %2 alive now with %3</source>
        <translation>
            <numerusform>This stack: %1 allocation in all, %2 alive now with %3</numerusform>
            <numerusform>This stack: %1 allocations in all, %2 alive now with %3</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n free gap(s)</source>
        <translation>
            <numerusform>%n free gap</numerusform>
            <numerusform>%n free gaps</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>GraphMap</name>
    <message numerus="yes">
        <source>%1 graph(s) like this</source>
        <translation>
            <numerusform>%1 graph like this</numerusform>
            <numerusform>%1 graphs like this</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 root(s)</source>
        <translation>
            <numerusform>%1 root</numerusform>
            <numerusform>%1 roots</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 more graph(s) like this</source>
        <translation>
            <numerusform>%1 more graph like this</numerusform>
            <numerusform>%1 more graphs like this</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>refers to %1 root(s)</source>
        <translation>
            <numerusform>refers to %1 root</numerusform>
            <numerusform>refers to %1 roots</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>HistogramText</name>
    <message numerus="yes">
        <source>%1 iteration(s)</source>
        <translation>
            <numerusform>%1 iteration</numerusform>
            <numerusform>%1 iterations</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 allocation(s), %2</source>
        <translation>
            <numerusform>%1 allocation, %2</numerusform>
            <numerusform>%1 allocations, %2</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Map</name>
    <message numerus="yes">
        <source>%1 allocation(s)</source>
        <translation>
            <numerusform>%1 allocation</numerusform>
            <numerusform>%1 allocations</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 segment(s)</source>
        <translation>
            <numerusform>%1 segment</numerusform>
            <numerusform>%1 segments</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SourceWords</name>
    <message numerus="yes">
        <source>%1 line(s) without text</source>
        <translation>
            <numerusform>%1 line without text</numerusform>
            <numerusform>%1 lines without text</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Steps</name>
    <message numerus="yes">
        <source>%n repeated step(s), of which only peaks are recorded</source>
        <translation>
            <numerusform>%n repeated step, of which only the peak is recorded</numerusform>
            <numerusform>%n repeated steps, of which only peaks are recorded</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n step(s) whose details were deleted</source>
        <translation>
            <numerusform>%n step whose details were deleted</numerusform>
            <numerusform>%n steps whose details were deleted</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Tree</name>
    <message numerus="yes">
        <source>%1 allocation(s)</source>
        <translation>
            <numerusform>%1 allocation</numerusform>
            <numerusform>%1 allocations</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 box(es) too small to show</source>
        <translation>
            <numerusform>%1 box too small to show</numerusform>
            <numerusform>%1 boxes too small to show</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Why</name>
    <message numerus="yes">
        <source>Through %1 node(s)</source>
        <translation>
            <numerusform>Through %1 node</numerusform>
            <numerusform>Through %1 nodes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 node(s) saved it</source>
        <translation>
            <numerusform>%1 node saved it</numerusform>
            <numerusform>%1 nodes saved it</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::gui::AllocationTable</name>
    <message numerus="yes">
        <source>%1 of %2 allocation(s) · %3 in blocks, %4 requested</source>
        <translation>
            <numerusform>%1 of %2 allocation · %3 in blocks, %4 requested</numerusform>
            <numerusform>%1 of %2 allocations · %3 in blocks, %4 requested</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 row(s) copied</source>
        <translation>
            <numerusform>%1 row copied</numerusform>
            <numerusform>%1 rows copied</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::gui::ChangesModel</name>
    <message numerus="yes">
        <source>%1 in %2 allocation(s)</source>
        <translation>
            <numerusform>%1 in %2 allocation</numerusform>
            <numerusform>%1 in %2 allocations</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::gui::FindingBody</name>
    <message numerus="yes">
        <source>%1 allocation(s) with %2, in the table</source>
        <translation>
            <numerusform>%1 allocation with %2, in the table</numerusform>
            <numerusform>%1 allocations with %2, in the table</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::gui::FindingPlot</name>
    <message numerus="yes">
        <source>%1 allocation(s) of this finding</source>
        <translation>
            <numerusform>%1 allocation of this finding</numerusform>
            <numerusform>%1 allocations of this finding</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::gui::Information</name>
    <message numerus="yes">
        <source>%1 event(s)</source>
        <translation>
            <numerusform>%1 event</numerusform>
            <numerusform>%1 events</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::gui::JobView</name>
    <message numerus="yes">
        <source>… and %n more GPU(s)</source>
        <translation>
            <numerusform>… and %n more GPU</numerusform>
            <numerusform>… and %n more GPUs</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::gui::Legend</name>
    <message numerus="yes">
        <source>%1
%2 at the cursor (%3 byte(s))</source>
        <translation>
            <numerusform>%1
%2 at the cursor (%3 byte)</numerusform>
            <numerusform>%1
%2 at the cursor (%3 bytes)</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::gui::LiveStrip</name>
    <message numerus="yes">
        <source>%1 event(s)</source>
        <translation>
            <numerusform>%1 event</numerusform>
            <numerusform>%1 events</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::gui::SegmentMap</name>
    <message numerus="yes">
        <source>allocated at %1, %2 (%3 event(s)) ago</source>
        <translation>
            <numerusform>allocated at %1, %2 (%3 event) ago</numerusform>
            <numerusform>allocated at %1, %2 (%3 events) ago</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 more block(s) under this pixel: zoom in to see them</source>
        <translation>
            <numerusform>%1 more block under this pixel: zoom in to see it</numerusform>
            <numerusform>%1 more blocks under this pixel: zoom in to see them</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>in %1 free gap(s)</source>
        <translation>
            <numerusform>in %1 free gap</numerusform>
            <numerusform>in %1 free gaps</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::gui::ShareDialog</name>
    <message numerus="yes">
        <source>with %n note(s)</source>
        <translation>
            <numerusform>with %n note</numerusform>
            <numerusform>with %n notes</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::gui::SqlModel</name>
    <message numerus="yes">
        <source>blob of %n byte(s)</source>
        <translation>
            <numerusform>blob of %n byte</numerusform>
            <numerusform>blob of %n bytes</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::gui::SqlPane</name>
    <message numerus="yes">
        <source>%1 row(s) in %2</source>
        <translation>
            <numerusform>%1 row in %2</numerusform>
            <numerusform>%1 rows in %2</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The first %1 row(s) in %2. The query has more: add WHERE, GROUP BY or LIMIT.</source>
        <translation>
            <numerusform>The first %1 row in %2. The query has more: add WHERE, GROUP BY or LIMIT.</numerusform>
            <numerusform>The first %1 rows in %2. The query has more: add WHERE, GROUP BY or LIMIT.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::gui::StatusLine</name>
    <message numerus="yes">
        <source>⚠ %n data gap(s)</source>
        <translation>
            <numerusform>⚠ %n data gap</numerusform>
            <numerusform>⚠ %n data gaps</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::gui::TracePage</name>
    <message numerus="yes">
        <source>%1 event(s)</source>
        <translation>
            <numerusform>%1 event</numerusform>
            <numerusform>%1 events</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::gui::TreePane</name>
    <message numerus="yes">
        <source>%1 (%2) in %3 place(s)</source>
        <translation>
            <numerusform>%1 (%2) in %3 place</numerusform>
            <numerusform>%1 (%2) in %3 places</numerusform>
        </translation>
    </message>
</context>
</TS>
