// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Every view of traces whose times, sizes and names no program has. A view that survives draws something.
#include <QImage>
#include <QTemporaryDir>
#include <QTest>
#include <limits>

#include "gui/app/application.h"
#include "gui/app/render.h"
#include "storage/base/saturated.h"
#include "synthetic_trace.h"

using namespace tidemark;
using namespace tidemark::gui;

namespace {

using Change = void (*)(Trace&);
constexpr int64_t longest = std::numeric_limits<int64_t>::max(), shortest = std::numeric_limits<int64_t>::min();

void stretch_to(Trace& trace, int64_t first, int64_t last) {
    std::vector<int64_t>& times = trace.devices.front().event_time;
    times.front() = first;
    times.back() = last;
    trace.duration = last;
}

/// Repeats a text until no screen has room for it.
std::string endless(const char* text) {
    std::string result;
    while (result.size() < 100'000) {
        result += text;
    }
    return result;
}

void rename_all(Trace& trace, const std::string& name) {
    for (Annotation& annotation : trace.annotations) {
        annotation.name = name;
    }
    for (Mark& mark : trace.marks) {
        mark.name = name;
    }
    for (Stream& stream : trace.streams) {
        stream.name = name;
    }
    trace.devices.front().name = name;
}

struct Extreme {
    const char* name;
    Change change;
};

constexpr Extreme extremes[] = {
    {"a year", [](Trace& t) { stretch_to(t, 0, 31'536'000'000'000'000); }},
    {"1e18 ns", [](Trace& t) { stretch_to(t, 0, 1'000'000'000'000'000'000); }},
    {"the last time", [](Trace& t) { stretch_to(t, 0, longest); }},
    {"the first and the last time", [](Trace& t) { stretch_to(t, shortest, longest); }},
    {"only negative times", [](Trace& t) { stretch_to(t, shortest, shortest + 1); }},
    {"no time passes",
     [](Trace& t) {
         std::fill(t.devices.front().event_time.begin(), t.devices.front().event_time.end(), 0);
         t.duration = 0;
     }},
    {"an annotation of 300 years", [](Trace& t) { t.annotations.front().end = longest; }},
    {"annotations that end before they begin",
     [](Trace& t) {
         for (Annotation& annotation : t.annotations) {
             std::swap(annotation.start, annotation.end);
         }
         t.annotations.back().start = shortest;
     }},
    {"steps without an order",
     [](Trace& t) {
         t.steps = {{longest, StepSource::user, longest, shortest}, {0, StepSource::user, shortest, longest}};
     }},
    {"a mark after the end", [](Trace& t) { t.marks.front().time = longest, t.marks.front().events.clear(); }},
    {"blocks of 4 EiB",
     [](Trace& t) {
         auto& sizes = t.devices.front().allocations.block_size;
         std::fill(sizes.begin(), sizes.end(), uint64_t{1} << 62);
     }},
    {"a block larger than what it was requested for",
     [](Trace& t) { t.devices.front().allocations.requested.front() = UINT64_MAX; }},
    {"a segment of 16 EiB", [](Trace& t) { t.devices.front().segments.front().size = UINT64_MAX; }},
    {"a segment of nothing", [](Trace& t) { t.devices.front().segments.front().size = 0; }},
    {"a segment that ends with the addresses",
     [](Trace& t) { t.devices.front().segments.front().address = UINT64_MAX - 4096; }},
    {"NVML shows 8 EiB",
     [](Trace& t) {
         t.samples = {{0, 0, std::nullopt, longest, longest, SampleSource::nvml},
                      {longest, 0, std::nullopt, shortest, 0, SampleSource::nvml}};
     }},
    {"long names", [](Trace& t) { rename_all(t, endless("name ")); }},
    {"names of control characters", [](Trace& t) { rename_all(t, "\x1b[31m\n\u202egnp\xff\xfe<b>%1"); }},
};

}  // namespace

class TestExtremes : public QObject {
    Q_OBJECT
private slots:
    void every_view_survives_data() {
        QTest::addColumn<int>("index");
        for (size_t i = 0; i < std::size(extremes); ++i) {
            QTest::newRow(extremes[i].name) << static_cast<int>(i);
        }
    }

    void every_view_survives() {
        QFETCH(int, index);
        Application application(Settings::Storage::in_memory);
        const auto trace = std::make_shared<Trace>(*test::synthetic_trace());
        extremes[index].change(*trace);
        for (const QString& view : view_names()) {
            const auto session = std::make_shared<Session>(trace, Session::analyze(trace));
            RenderRequest request;
            request.view = view;
            request.size = QSize(640, 400);
            request.output = folder_.filePath(QStringLiteral("picture.png"));
            const Status drawn = render(application, session, request);
            QVERIFY2(drawn, drawn ? "" : drawn.error().sentence.english().c_str());
            QCOMPARE(QImage(request.output).size(), request.size);
        }
    }

    /// Zooms to where doubles hardly distinguish two times.
    void zooming_ends_before_the_axis_is_a_point() {
        const auto trace = std::make_shared<Trace>(*test::synthetic_trace());
        stretch_to(*trace, 0, longest);
        Session session(trace, Session::analyze(trace));
        TimeView& view = session.time_view();
        view.show_all();
        for (int i = 0; i < 100; ++i) {
            view.zoom(10, view.whole_to());
        }
        QVERIFY(view.span() > view.smallest_span() * 0.99);
        const double pixel = view.span() / 16384;
        QVERIFY(view.to() - pixel < view.to());
        QCOMPARE(view.time_at(view.to()), longest);
    }

private:
    QTemporaryDir folder_;
};

QTEST_MAIN(TestExtremes)
#include "test_extremes.moc"
