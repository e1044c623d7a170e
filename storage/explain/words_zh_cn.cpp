#include "storage/explain/words_zh_cn.h"

namespace tidemark {
namespace {

constexpr Translation table[] = {
    {" and ", "和"},
    {", ", "、"},
};

}  // namespace

std::span<const Translation> chinese_table() { return table; }

}  // namespace tidemark
