#include "storage/allocator/rules.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

namespace tidemark {

namespace {

uint64_t divisions_for(const AllocatorSettings& settings, uint64_t size) {
    // Index 0 serves everything below 2 MiB, the last everything above.
    const int log_size = 63 - std::countl_zero(size);
    const int index = std::clamp(log_size - 20, 0, static_cast<int>(settings.roundup_divisions.size()) - 1);
    return settings.roundup_divisions[static_cast<size_t>(index)];
}

uint64_t next_power2_division(uint64_t size, uint64_t divisions) {
    if (std::has_single_bit(size)) {
        return size;
    }
    const uint64_t floor = std::bit_floor(size);
    const uint64_t step = floor >> (63 - std::countl_zero(divisions));
    if (step == 0) {
        return floor << 1;
    }
    const uint64_t down = size & ~(step - 1);
    return down == size ? size : down + step;
}

}  // namespace

AllocatorSettings AllocatorSettings::from_text(const std::map<std::string, std::string>& settings) {
    AllocatorSettings result;
    const auto value = [&](const char* key) {
        const auto found = settings.find(key);
        return found == settings.end() ? nlohmann::json() : nlohmann::json::parse(found->second, nullptr, false);
    };
    if (const auto split = value("max_split_size"); split.is_number_integer() && split.get<int64_t>() > 0) {
        result.max_split_size = split.get<uint64_t>();
    }
    if (const auto threshold = value("garbage_collection_threshold"); threshold.is_number()) {
        result.collects_garbage = threshold.get<double>() > 0;
    }
    if (const auto divisions = value("roundup_power2_divisions"); divisions.is_object()) {
        for (size_t i = 0; i < result.roundup_divisions.size(); ++i) {
            const auto found = divisions.find(std::to_string(uint64_t{1} << i));
            if (found != divisions.end() && found->is_number_unsigned()) {
                result.roundup_divisions[i] = found->get<uint64_t>();
            }
        }
    }
    return result;
}

uint64_t round_size(const AllocatorSettings& settings, uint64_t requested) {
    if (requested < min_block_size) {
        return min_block_size;
    }
    const uint64_t divisions = divisions_for(settings, requested);
    if (divisions > 1 && requested > min_block_size * divisions) {
        return next_power2_division(requested, divisions);
    }
    return (requested + min_block_size - 1) / min_block_size * min_block_size;
}

bool should_split(const AllocatorSettings& settings, uint64_t rounded, uint64_t remaining, bool is_large,
                  bool is_expandable) {
    if (!is_large || is_expandable) {
        return remaining >= min_block_size;
    }
    return rounded < settings.max_split_size && remaining > small_size;
}

}  // namespace tidemark
