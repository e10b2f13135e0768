#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "specs/python_host.h"

#include <stdio.h>
#include <string.h>

static void drop(PyObject **o)
{
    Py_XDECREF(*o);
}
#define _cleanup_ref_ __attribute__((cleanup(drop)))

static PyObject *host; /* halcyon.host */

/* Fails with "Type: text" of the current exception and clears it. */
static int fail_with_exception(struct why *w, const char *doing)
{
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
    why_fail(w, WHY_SYSTEM, "Python, %s: %s: %s", doing,
             type ? ((PyTypeObject *) type)->tp_name : "no exception", utf8 ? utf8 : "");
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    PyErr_Clear();
    return -1;
}

static PyObject *source_text(PyObject *self, PyObject *name)
{
    (void) self;
    const char *wanted = PyUnicode_AsUTF8(name);
    if (!wanted)
        return NULL;
    for (const struct python_source *s = python_sources; s->name; s++)
        if (strcmp(s->name, wanted) == 0)
            return PyUnicode_FromString(s->text);
    Py_RETURN_NONE;
}

static PyMethodDef source_method = { "source_text", source_text, METH_O, NULL };

/* An importer for the package "halcyon", whose modules are embedded in the binary. */
static const char importer[] =
    "import importlib.abc, importlib.util, sys\n"
    "class Importer(importlib.abc.InspectLoader, importlib.abc.MetaPathFinder):\n"
    "    def find_spec(self, name, path=None, target=None):\n"
    "        if name == 'halcyon':\n"
    "            return importlib.util.spec_from_loader(name, self, is_package=True)\n"
    "        if source_text(name) is not None:\n"
    "            return importlib.util.spec_from_loader(name, self)\n"
    "    def is_package(self, name):\n"
    "        return name == 'halcyon'\n"
    "    def get_source(self, name):\n"
    "        return source_text(name) or ''\n"
    "sys.meta_path.insert(0, Importer())\n";

static int install_importer(struct why *w)
{
    _cleanup_ref_ PyObject *scope = PyDict_New();
    _cleanup_ref_ PyObject *function = PyCFunction_New(&source_method, NULL);

    if (!scope || !function || PyDict_SetItemString(scope, "source_text", function) < 0 ||
        PyDict_SetItemString(scope, "__builtins__", PyEval_GetBuiltins()) < 0)
        return fail_with_exception(w, "installing the importer");
    _cleanup_ref_ PyObject *done = PyRun_String(importer, Py_file_input, scope, scope);
    return done ? 0 : fail_with_exception(w, "installing the importer");
}

int python_host_start(struct why *w)
{
    PyConfig config;

    /* Isolated from environment variables, the user's site directory and any other python3 on PATH.
     * The fixed hash seed makes the order of sets, and so the result of a specification,
     * repeatable. */
    PyConfig_InitIsolatedConfig(&config);
    config.write_bytecode = 0;
    config.pathconfig_warnings = 0;
    config.use_hash_seed = 1;
    config.hash_seed = 0;
    PyStatus status = PyConfig_SetBytesString(&config, &config.program_name, HALCYON_PYTHON);
    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status))
        return why_fail(w, WHY_SYSTEM, "cannot start Python: %s",
                        status.err_msg ? status.err_msg : "unknown reason");
    TRY(install_importer(w));
    host = PyImport_ImportModule("halcyon.host");
    return host ? 0 : fail_with_exception(w, "importing the loader");
}

void python_host_preload(const char *kind, const char *path)
{
    _cleanup_ref_ PyObject *name = PyUnicode_DecodeFSDefault(path);
    _cleanup_ref_ PyObject *done =
        name ? PyObject_CallMethod(host, "preload", "sO", kind, name) : NULL;
    if (!done)
        PyErr_Clear();
}

int python_host_load(const char *kind, const char *path, int lines_fd, int trace_fd, double timeout)
{
    _cleanup_ref_ PyObject *name = PyUnicode_DecodeFSDefault(path);
    if (!name)
        return -1;
    _cleanup_ref_ PyObject *done =
        PyObject_CallMethod(host, "run", "sOiid", kind, name, lines_fd, trace_fd, timeout);
    return done ? 0 : -1;
}

int python_host_convert(const void *data, size_t length, char **ret_json, struct why *w)
{
    _cleanup_ref_ PyObject *json =
        PyObject_CallMethod(host, "convert_tflite", "y#", data, (Py_ssize_t) length);
    if (!json)
        return fail_with_exception(w, "converting a TensorFlow Lite model");
    const char *text = json == Py_None ? NULL : PyUnicode_AsUTF8(json);
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy)
        return why_no_memory(w);
    *ret_json = copy;
    return 0;
}
