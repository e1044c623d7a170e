// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The text format of OpenMetrics 1.0, which Prometheus and the OpenTelemetry Collector read.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tidemark::cli {

/// Names and values. Values may be any text.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;
using MetricValue = std::variant<int64_t, double>;

struct Metric {
    const char* name;  ///< of the family: "tidemark_allocated_bytes"
    const char* type;  ///< "gauge", "counter" or "info"
    const char* unit;  ///< the end of the name; "" for none
    const char* help;
};

/// Collects samples in any order. The text has those of a family together, as the format demands.
class OpenMetrics {
public:
    void add(const Metric& metric, const MetricLabels& labels, MetricValue value);
    /// Returns families in the order of their first samples, and the mark of the end.
    std::string text() const;

private:
    struct Family {
        Metric metric;
        std::string samples;
    };
    std::vector<Family> families_;
};

}  // namespace tidemark::cli
