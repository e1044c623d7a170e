<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en">
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
    <message numerus="yes">
        <source>after %1 of %2 event(s)</source>
        <translation>
            <numerusform>after %1 of %2 event</numerusform>
            <numerusform>after %1 of %2 events</numerusform>
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
        <source>%1 frame(s) too small to show</source>
        <translation>
            <numerusform>%1 frame too small to show</numerusform>
            <numerusform>%1 frames too small to show</numerusform>
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
    <name>tidemark::gui::MainWindow</name>
    <message numerus="yes">
        <source>⚠ %n data gap(s)</source>
        <translation>
            <numerusform>⚠ %n data gap</numerusform>
            <numerusform>⚠ %n data gaps</numerusform>
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
    <name>tidemark::gui::SummaryTable</name>
    <message numerus="yes">
        <source>%1, after %2 event(s)</source>
        <translation>
            <numerusform>%1, after %2 event</numerusform>
            <numerusform>%1, after %2 events</numerusform>
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
        <source>%1 (%2) in %3 frame(s)</source>
        <translation>
            <numerusform>%1 (%2) in %3 frame</numerusform>
            <numerusform>%1 (%2) in %3 frames</numerusform>
        </translation>
    </message>
</context>
</TS>
