#include "recorder/frames.hpp"

#include <cstring>
#include <vector>

namespace tradewind::recorder {
extern "C" {
/// Unwinding without a header, by the library of the compiler.
struct dwarf_eh_bases {
    void *text, *data, *function;
};
const void* _Unwind_Find_FDE(void* address, dwarf_eh_bases* bases);
}
namespace {

constexpr int FRAME_POINTER = 6, STACK_POINTER = 7;  // DWARF's numbers of the registers of x86-64

/// Reads DWARF's numbers.
class Bytes {
  public:
    explicit Bytes(const unsigned char* at) : at_(at) {}

    template <class T>
    T value() {
        T value;
        std::memcpy(&value, at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    /// LEB128. Of a signed number only the lower bits are right: none is used.
    std::uint64_t number() {
        std::uint64_t value = 0;
        for (int bits = 0;; bits += 7) {
            const auto byte = this->value<unsigned char>();
            if (bits < 64) value |= std::uint64_t{byte & 127U} << bits;
            if (byte < 128) return value;
        }
    }
    void skip(std::uint64_t bytes) { at_ += bytes; }
    const unsigned char* at() const { return at_; }

  private:
    const unsigned char* at_;
};

/// Bytes of an address in the encoding of .eh_frame; 0 where it has no fixed size.
std::size_t encoded_bytes(unsigned char encoding) {
    switch (encoding & 7) {
        case 0: return sizeof(Word);
        case 2: return 2;
        case 3: return 4;
        case 4: return 8;
        default: return 0;
    }
}

/// The part common to the entries of several functions.
struct CommonEntry {
    std::uint64_t code_alignment = 1;
    std::size_t address_bytes = sizeof(Word);
    bool has_augmentation = false;
    const unsigned char *begin = nullptr, *end = nullptr;  // of its instructions
};

std::optional<CommonEntry> common_entry(const unsigned char* at) {
    CommonEntry entry;
    Bytes bytes(at);
    entry.end = at + 4 + bytes.value<std::uint32_t>();
    bytes.skip(4);
    const auto version = bytes.value<unsigned char>();
    const auto* augmentation = reinterpret_cast<const char*>(bytes.at());
    bytes.skip(std::strlen(augmentation) + 1);
    entry.code_alignment = bytes.number();
    bytes.number();  // alignment of data
    if (version == 1)
        bytes.skip(1);
    else
        bytes.number();
    if (*augmentation == 0) {
        entry.begin = bytes.at();
        return entry;
    }
    if (*augmentation != 'z') return {};
    entry.has_augmentation = true;
    const std::uint64_t length = bytes.number();
    entry.begin = bytes.at() + length;
    for (const char* letter = augmentation + 1; *letter != 0; letter++) {
        if (*letter == 'R') {
            entry.address_bytes = encoded_bytes(bytes.value<unsigned char>());
        } else if (*letter == 'P') {
            const std::size_t size = encoded_bytes(bytes.value<unsigned char>());
            if (size == 0) return {};
            bytes.skip(size);
        } else if (*letter == 'L') {
            bytes.skip(1);
        } else if (*letter != 'S') {
            return {};
        }
    }
    if (entry.address_bytes == 0) return {};
    return entry;
}

/// The frame of a function as register and distance, while instructions change it.
class Rows {
  public:
    Rows(Word location, Word wanted) : location_(location), wanted_(wanted) {}

    /// Runs instructions until they pass the wanted address; false for one that is not known.
    bool run(const unsigned char* begin, const unsigned char* end, std::uint64_t code_alignment) {
        Bytes bytes(begin);
        while (bytes.at() < end && location_ <= wanted_) {
            const auto instruction = bytes.value<unsigned char>();
            const unsigned operand = instruction & 63U;
            switch (instruction >> 6) {
                case 1: advance(operand * code_alignment); break;
                case 2: bytes.number(); break;
                case 3: break;
                default:
                    if (!extended(operand, bytes, code_alignment)) return false;
            }
        }
        return true;
    }
    int frame_register() const { return row_.of; }
    std::uint64_t distance() const { return row_.distance; }

  private:
    struct Row {
        int of = -1;  // -1: an expression, or nothing yet
        std::uint64_t distance = 0;
    };

    /// The row that is valid where the wanted address is passed stays.
    void advance(std::uint64_t bytes) { location_ += bytes; }

    bool extended(unsigned instruction, Bytes& bytes, std::uint64_t code_alignment) {
        switch (instruction) {
            case 0x00: return true;  // nothing
            case 0x02: advance(bytes.value<std::uint8_t>() * code_alignment); return true;
            case 0x03: advance(bytes.value<std::uint16_t>() * code_alignment); return true;
            case 0x04: advance(bytes.value<std::uint32_t>() * code_alignment); return true;
            case 0x06:  // of one register: restored, undefined, unchanged
            case 0x07:
            case 0x08:
            case 0x2e: bytes.number(); return true;  // and the size of arguments
            case 0x05:                               // of two numbers: saved at a distance, in a register
            case 0x09:
            case 0x11:
            case 0x14:
            case 0x15: bytes.number(), bytes.number(); return true;
            case 0x0a: kept_.push_back(row_); return true;
            case 0x0b:
                if (kept_.empty()) return false;
                row_ = kept_.back();
                kept_.pop_back();
                return true;
            case 0x0c:
                row_.of = static_cast<int>(bytes.number());
                row_.distance = bytes.number();
                return true;
            case 0x0d: row_.of = static_cast<int>(bytes.number()); return true;
            case 0x0e: row_.distance = bytes.number(); return true;
            case 0x0f:
                row_.of = -1;
                bytes.skip(bytes.number());
                return true;
            case 0x10:
            case 0x16:
                bytes.number();
                bytes.skip(bytes.number());
                return true;
            default: return false;
        }
    }

    Word location_, wanted_;
    Row row_;
    std::vector<Row> kept_;
};

}  // namespace

std::optional<FrameRule> frame_rule(Word address) {
#if defined(__x86_64__)
    const Word call = address - 1;  // a call may be the last instruction of its function
    dwarf_eh_bases bases{};
    const auto* at = static_cast<const unsigned char*>(_Unwind_Find_FDE(reinterpret_cast<void*>(call), &bases));
    if (at == nullptr) return {};
    Bytes bytes(at);
    const auto length = bytes.value<std::uint32_t>();
    if (length == UINT32_MAX) return {};  // a length of 64 bits follows
    const unsigned char* end = at + 4 + length;
    const unsigned char* common_at = bytes.at();
    common_at -= bytes.value<std::int32_t>();
    const std::optional<CommonEntry> common = common_entry(common_at);
    if (!common) return {};
    bytes.skip(2 * common->address_bytes);  // where the function begins, and its length
    if (common->has_augmentation) bytes.skip(bytes.number());
    Rows rows(reinterpret_cast<Word>(bases.function), call);
    if (!rows.run(common->begin, common->end, common->code_alignment)) return {};
    if (!rows.run(bytes.at(), end, common->code_alignment)) return {};
    if (rows.frame_register() == STACK_POINTER) return FrameRule{false, rows.distance()};
    if (rows.frame_register() == FRAME_POINTER) return FrameRule{true, rows.distance() - sizeof(Word)};
#else
    (void)address;
#endif
    return {};
}

Frame outer_frame(const Frame& frame, const FrameRule& rule) {
    if (rule.has_pointer && frame.pointer == 0) return {};
    const Word slot = (rule.has_pointer ? frame.pointer : frame.slot) + rule.bytes;
    // A function with a frame pointer keeps its caller's right below the address; one without may have changed it.
    const Word pointer = rule.has_pointer ? *reinterpret_cast<const Word*>(frame.pointer) : 0;
    return {*reinterpret_cast<const Word*>(slot), slot, pointer};
}

}  // namespace tradewind::recorder
