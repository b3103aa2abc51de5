#include "objects.hpp"

#include <new>

#include "base/error.hpp"
#include "base/write_error.hpp"
#include "mpi/error.hpp"

namespace tradewind::c {

namespace {

thread_local std::string last_error;

tw_status keep(tw_status status, const char* text) noexcept {
    try {
        last_error = text;
    } catch (...) {
        last_error.clear();  // no memory for the text; the status remains
    }
    return status;
}

template <class Object>
Handles<Object>& never_destroyed(const char* kind) {
    return *new Handles<Object>(kind);
}

}  // namespace

Handles<const layout::Layout>& layouts() {
    static Handles<const layout::Layout>& all = never_destroyed<const layout::Layout>("layout");
    return all;
}

std::shared_ptr<const layout::Blocks> blocks_of(tw_layout layout, const char* user) {
    const auto found = layouts().at(layout.id);
    auto blocks = std::dynamic_pointer_cast<const layout::Blocks>(found);
    if (!blocks) throw InputError(std::string(user) + " of " + found->describe() + ": blocks or pencils are allowed");
    return blocks;
}

Handles<const pattern::Pattern>& patterns() {
    static Handles<const pattern::Pattern>& all = never_destroyed<const pattern::Pattern>("pattern");
    return all;
}

Handles<const OwnPoints>& points() {
    static Handles<const OwnPoints>& all = never_destroyed<const OwnPoints>("point set");
    return all;
}

Handles<BoundPlan>& plans() {
    static Handles<BoundPlan>& all = never_destroyed<BoundPlan>("plan");
    return all;
}

tw_status keep_error() noexcept {
    try {
        throw;
    } catch (const HandleError& error) {
        return keep(TW_ERROR_HANDLE, error.what());
    } catch (const InputError& error) {
        return keep(TW_ERROR_INPUT, error.what());
    } catch (const mpi::PlanError& error) {
        return keep(TW_ERROR_PLAN, error.what());
    } catch (const WriteError& error) {
        return keep(TW_ERROR_WRITE, error.what());
    } catch (const std::bad_alloc&) {
        return keep(TW_ERROR_MEMORY, "out of memory");
    } catch (const std::exception& error) {
        return keep(TW_ERROR_INTERNAL, error.what());
    } catch (...) {
        return keep(TW_ERROR_INTERNAL, "something that is no error was thrown");
    }
}

void require(const void* pointer, const char* name) {
    if (!pointer) throw InputError(std::string(name) + " is a null pointer");
}

}  // namespace tradewind::c

const char* tw_last_error(void) {
    return tradewind::c::last_error.c_str();
}

const char* tw_version(void) {
    return TRADEWIND_VERSION;
}
