#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "specs/python_host.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "specs/python_zygote.h"

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
    if (!PyStatus_Exception(status)) /* without an environment there is no locale that says so */
        status = PyConfig_SetBytesString(&config, &config.filesystem_encoding, "utf-8");
    if (!PyStatus_Exception(status))
        status = PyConfig_SetBytesString(&config, &config.filesystem_errors, "surrogateescape");
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

int python_host_library(const char ***ret_paths, size_t *ret_n, struct why *w)
{
    _cleanup_ref_ PyObject *list = PyObject_CallMethod(host, "library", NULL);
    Py_ssize_t n = list ? PyList_Size(list) : -1;
    const char **paths = n < 0 ? NULL : calloc((size_t) n + 2, sizeof *paths);

    if (!paths)
        return fail_with_exception(w, "looking up its library");
    for (Py_ssize_t i = 0; i < n; i++) {
        _cleanup_ref_ PyObject *bytes = PyUnicode_EncodeFSDefault(PyList_GetItem(list, i));
        if (!bytes || !(paths[i] = strdup(PyBytes_AsString(bytes))))
            return fail_with_exception(w, "looking up its library");
    }
    *ret_paths = paths;
    *ret_n = (size_t) n;
    return 0;
}

void python_host_import_common(void)
{
    _cleanup_ref_ PyObject *done = PyObject_CallMethod(host, "import_common", NULL);

    if (!done)
        PyErr_Clear();
}

int python_host_preload(const char *kind, const char *path, int file, char *ret_prefix, size_t size)
{
    _cleanup_ref_ PyObject *name = PyUnicode_DecodeFSDefault(path);
    _cleanup_ref_ PyObject *prefix =
        name ? PyObject_CallMethod(host, "preload", "sOi", kind, name, file) : NULL;
    const char *text = prefix ? PyUnicode_AsUTF8(prefix) : NULL;

    PyErr_Clear();
    return text && (size_t) snprintf(ret_prefix, size, "%s", text) < size ? 0 : -1;
}

/* ---- system calls that the sandbox denies raise SIGSYS */

static struct {
    int fd;
    void (*dump)(int); /* faulthandler's handler: writes the stack trace */
} on_denied;

static void report_denied(int signal, siginfo_t *info, void *context)
{
    char text[sizeof DENIED_CALL + 16], digits[12];
    size_t n = strlen(DENIED_CALL), k = 0;

    (void) context;
    memcpy(text, DENIED_CALL, n);
    for (unsigned number = (unsigned) info->si_syscall; number || !k; number /= 10)
        digits[k++] = (char) ('0' + number % 10);
    while (k)
        text[n++] = digits[--k];
    text[n++] = '\n';
    if (write(on_denied.fd, text, n) == (ssize_t) n)
        on_denied.dump(signal);
    for (;;) /* _exit() would have AddressSanitizer examine the signal's stack */
        syscall(SYS_exit_group, CHILD_DONE);
}

/* After faulthandler.register(SIGSYS). */
static void end_when_denied(int trace_fd)
{
    struct sigaction action;

    if (sigaction(SIGSYS, NULL, &action) < 0)
        return;
    on_denied.fd = trace_fd;
    on_denied.dump = action.sa_handler;
    action.sa_sigaction = report_denied;
    action.sa_flags |= SA_SIGINFO;
    sigaction(SIGSYS, &action, NULL);
}

int python_host_trace(int fd)
{
    _cleanup_ref_ PyObject *done = PyObject_CallMethod(host, "trace", "i", fd);

    if (!done)
        return -1;
    end_when_denied(fd);
    return 0;
}

int python_host_load(const char *kind, const char *path, int file, int lines_fd)
{
    _cleanup_ref_ PyObject *name = PyUnicode_DecodeFSDefault(path);
    if (!name)
        return -1;
    _cleanup_ref_ PyObject *done =
        PyObject_CallMethod(host, "run", "sOii", kind, name, file, lines_fd);
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
