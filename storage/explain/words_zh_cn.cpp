#include "storage/explain/words_zh_cn.h"

#include <array>

#include "storage/explain/zh_cn/allocator.h"
#include "storage/explain/zh_cn/device.h"
#include "storage/explain/zh_cn/growth.h"
#include "storage/explain/zh_cn/program.h"
#include "storage/explain/zh_cn/report.h"
#include "storage/explain/zh_cn/finding_parts.h"

namespace tidemark {
namespace {

template <size_t... sizes>
constexpr auto joined(const Translation (&... tables)[sizes]) {
    std::array<Translation, (sizes + ...)> all{};
    size_t end = 0;
    const auto add = [&](const auto& rows) {
        for (const Translation& row : rows) {
            all[end++] = row;
        }
    };
    (add(tables), ...);
    return all;
}

constexpr auto table =
    joined(zh_cn::finding_parts, zh_cn::growth, zh_cn::allocator, zh_cn::device, zh_cn::program, zh_cn::report);

}  // namespace

std::span<const Translation> chinese_table() { return table; }

}  // namespace tidemark
