#include "storage/explain/diagnoses.h"

#include <array>

#include "storage/explain/diagnoses/all.h"

namespace tidemark {

std::span<const Diagnosis> all_diagnoses() {
    static constexpr std::array<Diagnosis, 1> list{
        diagnose_growth,
    };
    return list;
}

}  // namespace tidemark
