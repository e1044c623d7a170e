// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The questions of storage/format/FORMAT.md; a test compares them.
#include "storage/query/query_names.h"

namespace tidemark {

const std::vector<QueryExample>& query_examples() {
    static const std::vector<QueryExample> examples{
        {Sentence("Which lines allocated most bytes of the peak?"),
         R"sql(SELECT coalesce(frames.text, 'no stack') AS line, count(*) AS allocations, sum(block_bytes) AS bytes
  FROM live_at_peak LEFT JOIN stack ON stack.id = live_at_peak.stack LEFT JOIN frames ON frames.id = stack.frame
 GROUP BY 1 ORDER BY bytes DESC LIMIT 10;)sql"},
        {Sentence("Which allocations were never freed, and which stacks allocated them?"),
         R"sql(SELECT a.id, a.block_bytes, a.alloc_time / 1e9 AS seconds, group_concat(s.text, ' < ') AS stack
  FROM (SELECT * FROM allocations WHERE free_event IS NULL ORDER BY block_bytes DESC LIMIT 5) a
  LEFT JOIN stacks s ON s.id = a.stack GROUP BY a.id ORDER BY a.block_bytes DESC;)sql"},
        {Sentence("How much of the reserved memory is in which pool and stream at the end?"),
         R"sql(SELECT pool, stream, kind, count(*) AS segments, sum(bytes) AS bytes
  FROM segments WHERE free_event IS NULL GROUP BY pool, stream, kind ORDER BY bytes DESC;)sql"},
        {Sentence("How much does rounding cost at the peak?"),
         R"sql(SELECT sum(requested_bytes) AS requested, sum(rounding_bytes) AS rounding,
       100.0 * sum(rounding_bytes) / sum(block_bytes) AS percent FROM live_at_peak;)sql"},
        {Sentence("Which sizes are allocated most often, and how long is their lifetime?"),
         R"sql(SELECT block_bytes, count(*) AS times, avg(free_time - alloc_time) / 1e6 AS average_lifetime_ms
  FROM allocations GROUP BY block_bytes ORDER BY times DESC LIMIT 10;)sql"},
        {Sentence("What did nvidia-smi show for the device and for the recorded process?"),
         R"sql(SELECT time / 1e9 AS seconds, device, max(CASE WHEN pid IS NULL THEN used_bytes END) AS device_used,
       max(CASE WHEN pid = (SELECT pid FROM process) THEN used_bytes END) AS process_used
  FROM sample GROUP BY time, device ORDER BY time;)sql"},
        {Sentence("Which library has device memory outside the caching allocator at the end?"),
         R"sql(SELECT string.text AS library, kind, count(*) AS allocations, sum(bytes) AS bytes
  FROM driver_allocation LEFT JOIN string ON string.id = driver_allocation.source
 WHERE driver_allocation.segment IS NULL AND free_time IS NULL AND kind NOT IN ('mapped', 'pinned')
 GROUP BY library, kind ORDER BY bytes DESC;)sql"},
        {Sentence("How much did each step allocate?"),
         R"sql(SELECT step.number, count(*) AS allocations, sum(block_bytes) AS bytes
  FROM step JOIN allocations ON alloc_time >= step.start_time AND alloc_time < step.end_time
 GROUP BY step.number ORDER BY step.number;)sql"},
        {Sentence("Which nodes of the autograd graph retain most bytes at the end?"),
         R"sql(SELECT nodes.id, nodes.type, nodes.module, nodes.state, sum(block_bytes) AS bytes
  FROM (SELECT DISTINCT node, allocation FROM saved_tensors WHERE destroyed_time IS NULL AND released_time IS NULL) AS saved
  JOIN nodes ON nodes.id = saved.node JOIN allocations ON allocations.id = saved.allocation AND free_event IS NULL
 GROUP BY nodes.id ORDER BY bytes DESC LIMIT 10;)sql"},
        {Sentence("What retains the roots of the graph?"),
         R"sql(SELECT reason, referrer.node, nodes.type,
       (SELECT group_concat(link, ' > ') FROM (
          SELECT kind || ' ' || coalesce(name.text, '') ||
                 coalesce(' in ' || function.text || ' (' || file.text || ':' || line || ')', '') AS link
            FROM path_link LEFT JOIN string name ON name.id = path_link.name
            LEFT JOIN string function ON function.id = path_link.function
            LEFT JOIN string file ON file.id = path_link.file
           WHERE path_link.referrer = referrer.id ORDER BY position)) AS retained_by
  FROM referrer JOIN heap_scan ON heap_scan.id = referrer.scan JOIN nodes ON nodes.id = referrer.node
 ORDER BY heap_scan.time, referrer.id;)sql"},
    };
    return examples;
}

}  // namespace tidemark
