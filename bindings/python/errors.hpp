// Errors of the core as those of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <cstring>

namespace tradewind::python {

// A text may hold any bytes, like a cut character or the name of a file.
inline void set_error(PyObject* kind, const char* text) {
    PyObject* decoded = PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "backslashreplace");
    if (!decoded) return;  // no memory: that is the error then
    PyErr_SetObject(kind, decoded);
    Py_DECREF(decoded);
}

}  // namespace tradewind::python
