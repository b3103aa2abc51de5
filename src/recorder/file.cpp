#include "recorder/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace tradewind::recorder {
namespace {

constexpr char SIGNATURE[] = "tradewind trace\n";  // 16 bytes, without the 0
constexpr std::uint8_t VERSION = 1;

struct Header {
    char magic[4];
    Block kind;
    std::uint8_t coding, version, unused;
    std::uint32_t rank, stored, raw, checksum;
};
static_assert(sizeof(Header) == 24);

/// Adler-32 of RFC 1950.
std::uint32_t checksum_of(const unsigned char* data, std::size_t bytes) {
    constexpr std::uint32_t MODULUS = 65521;
    constexpr std::size_t UNTIL_OVERFLOW = 5552;
    std::uint32_t a = 1, b = 0;
    while (bytes > 0) {
        const std::size_t some = bytes < UNTIL_OVERFLOW ? bytes : UNTIL_OVERFLOW;
        for (std::size_t n = 0; n < some; n++) {
            a += data[n];
            b += a;
        }
        a %= MODULUS;
        b %= MODULUS;
        data += some;
        bytes -= some;
    }
    return b << 16 | a;
}

std::string path_of(const char* folder, std::uint32_t rank) {
    return std::string(folder) + "/rank-" + std::to_string(rank) + ".part";
}

}  // namespace

bool File::open(const char* folder, int rank) {
    const std::string path = path_of(folder, static_cast<std::uint32_t>(rank));
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    rank_ = static_cast<std::uint32_t>(rank);
    buffer_.assign(SIGNATURE, SIGNATURE + sizeof SIGNATURE - 1);
    return descriptor_ >= 0;
}

void File::add(Block kind, const void* data, std::size_t bytes) {
    const auto* raw = static_cast<const unsigned char*>(data);
    const auto length = static_cast<std::uint32_t>(bytes);
    const Header header{{'T', 'W', 'T', 'B'}, kind, 0, VERSION, 0, rank_, length, length, checksum_of(raw, bytes)};
    const auto* begin = reinterpret_cast<const char*>(&header);
    buffer_.insert(buffer_.end(), begin, begin + sizeof header);
    buffer_.insert(buffer_.end(), raw, raw + bytes);
}

bool File::flush() {
    std::size_t done = 0;
    while (done < buffer_.size()) {
        const ssize_t some =
            ::pwrite(descriptor_, buffer_.data() + done, buffer_.size() - done, static_cast<off_t>(written_ + done));
        if (some < 0 && errno == EINTR) continue;
        if (some <= 0) {
            const int why = errno;
            buffer_.clear();
            (void)!::ftruncate(descriptor_, static_cast<off_t>(written_));
            errno = why;
            return false;
        }
        done += static_cast<std::size_t>(some);
    }
    last_ = written_;
    written_ += done;
    buffer_.clear();
    return true;
}

bool File::replace_last() {
    if (last_ == 0) return false;  // the first blocks say whose file it is
    written_ = last_;
    return ::ftruncate(descriptor_, static_cast<off_t>(written_)) == 0 && flush();
}

void File::close() {
    ::close(descriptor_);
    descriptor_ = -1;
}

void File::remove(const char* folder) {
    close();
    ::unlink(path_of(folder, rank_).c_str());
}

}  // namespace tradewind::recorder
