// Errors of the core as those of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace tradewind::python {

// A text may hold any bytes, like a cut character or the name of a file. Null where there is no memory.
inline PyObject* decoded(const std::string& text) {
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
}

inline nanobind::str text_of(const std::string& text) {
    PyObject* const made = decoded(text);
    if (!made) throw nanobind::python_error();
    return nanobind::steal<nanobind::str>(made);
}

inline void set_error(PyObject* kind, const char* text) {
    PyObject* message = decoded(text);
    if (!message) return;  // no memory: that is the error then
    PyErr_SetObject(kind, message);
    Py_DECREF(message);
}

}  // namespace tradewind::python
