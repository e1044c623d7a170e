// The ledger of an analysis, made when somebody first asks for it.
#pragma once

#include <memory>
#include <mutex>

#include "storage/ledger/ledger.h"

namespace tidemark::gui {

class LazyLedger {
public:
    explicit LazyLedger(std::shared_ptr<const Analysis> analysis) : analysis_(std::move(analysis)) {}
    /// Thread: any; the first call works for a while.
    const Ledger& get() const {
        std::call_once(once_, [this] { ledger_ = std::make_unique<const Ledger>(analysis_); });
        return *ledger_;
    }
    const Analysis& analysis() const { return *analysis_; }

private:
    std::shared_ptr<const Analysis> analysis_;
    mutable std::once_flag once_;
    mutable std::unique_ptr<const Ledger> ledger_;
};

}  // namespace tidemark::gui
