// The memory that the op a thread is in has taken and not given back: whatever of it is neither a result nor kept by the
// graph when the op ends is the op's workspace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tidemark::plugin {

struct DeviceAddress {
    uint64_t address = 0;
    uint8_t device = 0;
    bool operator==(const DeviceAddress& other) const { return address == other.address && device == other.device; }
};

/// One thread's. Takes no host memory: it is told of events under the allocator's lock. Of an op that takes more pieces
/// than fit, the rest is not followed.
class OpMemory {
public:
    void clear() { count_ = 0; }
    void taken(const DeviceAddress& memory) {
        if (count_ < pieces_.size()) {
            pieces_[count_++] = memory;
        }
    }
    void returned_memory(const DeviceAddress& memory) { claim(memory); }
    /// True if it was here; from now on it is not.
    bool claim(const DeviceAddress& memory) {
        for (size_t i = count_; i-- > 0;) {
            if (pieces_[i] == memory) {
                pieces_[i] = pieces_[--count_];
                return true;
            }
        }
        return false;
    }
    const DeviceAddress* begin() const { return pieces_.data(); }
    const DeviceAddress* end() const { return pieces_.data() + count_; }

private:
    std::array<DeviceAddress, 64> pieces_;
    size_t count_ = 0;
};

}  // namespace tidemark::plugin
