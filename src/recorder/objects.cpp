#include "recorder/objects.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace tradewind::recorder {
namespace {

struct Search {
    Word address;
    LoadedObject* object;
};

bool is_loaded(const dl_phdr_info& info, Word begin, Word bytes) {
    for (int n = 0; n < info.dlpi_phnum; n++) {
        const ElfW(Phdr) & part = info.dlpi_phdr[n];
        const Word first = info.dlpi_addr + part.p_vaddr;
        if (part.p_type == PT_LOAD && begin >= first && begin + bytes <= first + part.p_memsz) return true;
    }
    return false;
}

std::string hexadecimal(const unsigned char* bytes, std::size_t count) {
    constexpr char DIGITS[] = "0123456789abcdef";
    std::string text;
    for (std::size_t n = 0; n < count; n++) {
        text += DIGITS[bytes[n] >> 4];
        text += DIGITS[bytes[n] & 15];
    }
    return text;
}

/// Returns the build id in a segment of notes; "" where it has none.
std::string build_id_in(const unsigned char* notes, std::size_t length, std::size_t alignment) {
    const auto rounded = [alignment](std::size_t size) { return (size + alignment - 1) / alignment * alignment; };
    std::size_t at = 0;
    while (at + sizeof(ElfW(Nhdr)) <= length) {
        ElfW(Nhdr) note;
        std::memcpy(&note, notes + at, sizeof note);
        const std::size_t name = at + sizeof note, content = name + rounded(note.n_namesz);
        if (content + note.n_descsz > length) break;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0)
            return hexadecimal(notes + content, note.n_descsz);
        at = content + rounded(note.n_descsz);
    }
    return "";
}

std::string build_id_of(const dl_phdr_info& info) {
    for (int n = 0; n < info.dlpi_phnum; n++) {
        const ElfW(Phdr) & part = info.dlpi_phdr[n];
        const Word begin = info.dlpi_addr + part.p_vaddr;
        if (part.p_type != PT_NOTE || !is_loaded(info, begin, part.p_memsz)) continue;
        const std::string found =
            build_id_in(reinterpret_cast<const unsigned char*>(begin), part.p_memsz, part.p_align == 8 ? 8 : 4);
        if (!found.empty()) return found;
    }
    return "";
}

/// Returns the path of an object, which the program itself has no name for.
std::string path_of(const dl_phdr_info& info) {
    char path[4096] = "";
    if (info.dlpi_name == nullptr || *info.dlpi_name == 0) {
        const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path - 1);
        return {path, length > 0 ? static_cast<std::size_t>(length) : 0};
    }
    return ::realpath(info.dlpi_name, path) != nullptr ? path : info.dlpi_name;
}

int take_if_there(dl_phdr_info* info, std::size_t, void* data) {
    const Search& search = *static_cast<const Search*>(data);
    if (!is_loaded(*info, search.address, 1)) return 0;
    *search.object = {info->dlpi_addr, path_of(*info), build_id_of(*info)};
    return 1;
}

}  // namespace

std::atomic<unsigned> closings = 0;

/// Takes the place of the C library's. Counted before, for libraries that other threads open once this one is gone, and
/// behind it, as destructors of a library may call MPI while it is closed.
extern "C" TRADEWIND_EXPORTED int dlclose(void* library) {
    // No static initialization, whose lock a thread would hold that waits for the loader's.
    static std::atomic<decltype(&dlclose)> real = nullptr;
    if (real == nullptr) real = reinterpret_cast<decltype(&dlclose)>(dlsym(RTLD_NEXT, "dlclose"));
    closings++;
    const int status = real.load()(library);
    closings++;
    return status;
}

const char* file_name(const char* path) {
    const char* slash = std::strrchr(path, '/');
    return slash != nullptr ? slash + 1 : path;
}

bool is_mpi_name(const char* name) {
    return std::strncmp(name, "libmpi", 6) == 0;
}

bool LoadedObject::is_mpi() const {
    return is_mpi_name(file_name(path.c_str()));
}

bool find_object(Word address, LoadedObject& object) {
    Search search{address, &object};
    return dl_iterate_phdr(take_if_there, &search) != 0;
}

}  // namespace tradewind::recorder
