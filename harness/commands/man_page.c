/* The manual page, in the man macros of roff. */
#include <stdbool.h>
#include <string.h>

#include "harness/commands/help.h"

static const struct help_row environment[] = {
    { "HALCYON_VLOG", "log tags, used if --vlog is not given" },
    { "ANDROID_LOG_TAGS", "filter of log lines, in the format of logcat: TAG:PRIORITY ..." },
    { "NO_COLOR", "not empty: no colours, unless --color always is given" },
    { "CLICOLOR_FORCE", "not empty and not 0: colours also where the output is no terminal" },
    { "CLICOLOR", "0: no colours" },
    { "TERM", "dumb or empty: no colours, and progress is one line per minute" },
    { "BROWSER", "the program that shows the report of bench --open; xdg-open if not set" },
    { "HALCYON_GDB",
      "the debugger of --gdb, called as PATH -q -p PID; a name is looked up in PATH" },
    { "TMPDIR",
      "where each driver's process gets its scratch folder, and where data that is read from "
      "a server is kept temporarily; /tmp if not set" },
    { "PGCONNECT_TIMEOUT",
      "seconds to wait for a PostgreSQL server; 20 if not set. PGPASSWORD, PGSERVICE "
      "and the other variables of libpq apply, too" },
    { "HOME", "a specification may read its own folder, unless that is HOME or contains it" },
    { "HALCYON_DRIVER_HOST",
      "the program that drivers run in, if it is not where it is installed" },
    { "HALCYON_NNAPI_DRIVER", "libhalcyon_nnapi.so, which rt: and sl: need, if it is not where it "
                              "is installed" },
    { NULL, NULL },
};

/* Read by libneuralnetworks.so and libhalcyon_sl.so. */
static const struct help_row runtime_environment[] = {
    { "HALCYON_DEVICES", "the targets to use, separated by commas, or @FILE with one per line" },
    { "HALCYON_DEBUG_NN_PARTITION",
      "0: all on the reference, 1: with it as fallback (default), 2: without" },
    { "HALCYON_DEBUG_NN_CPUONLY",
      "not 0: compilations without a list of devices use the reference" },
    { "HALCYON_DEBUG_NN_SYNCEXEC_RUNTIME", "1: startCompute computes before it returns" },
    { "HALCYON_DEBUG_NN_ENABLED_DEVICES",
      "regular expression (POSIX extended) that names of drivers must match wholly" },
    { "HALCYON_DEBUG_NN_VLOG", "log tags, as HALCYON_VLOG has them" },
    { "HALCYON_TRACE", "file that gets a trace of the process, when it exits" },
    { "HALCYON_TELEMETRY", "file to which a line of JSON is appended for each compilation and "
                           "execution" },
    { "HALCYON_SL_DEVICE", "the target of the support library; else the first of HALCYON_DEVICES, "
                           "else golden" },
    { "HALCYON_SL_FEATURE_LEVEL", "feature level of the support library: 5 to 8 (default)" },
    { NULL, NULL },
};

/* All but the first are below the prefix of the installation. */
static const struct help_row files[] = {
    { "halcyon.db", "the results database, in the current directory (--db names another)" },
    { "share/halcyon/profiles/*.toml",
      "the profiles of the simulated devices, to copy and change" },
    { "share/halcyon/skeleton/", "the files that 'halcyon new-driver' writes" },
    { "share/halcyon/engines/", "the engines of 'halcyon campaign'" },
    { "include/halcyon/hal.h", "the contract of a driver" },
    { "include/halcyon/hal_validate.h", "the checks that drivers make of their arguments" },
    { "share/pkgconfig/halcyon.pc", "the paths of these, for pkg-config" },
    { "share/doc/halcyon/", "README.md and, in docs/, the manual" },
    { NULL, NULL },
};

static const struct help_row examples[] = {
    { "halcyon random -d lib:./npu.so --count 1000", "random graphs on a driver" },
    { "halcyon conform -d lib:./npu.so", "the rules of the HAL contract" },
    { "halcyon run model.tflite -d sim:gpu -d sim:dsp", "a model on two simulated devices" },
    { "halcyon explain CASE -d lib:./npu.so", "what the driver computed instead" },
    { "halcyon random --failed last", "the cases that failed in the last run" },
    { "halcyon report -o report", "a report of all recorded results, to open in a browser" },
    { NULL, NULL },
};

/* Writes n characters with those escaped that mean something to roff; quotes and hyphens stay as
 * they are typed. */
static void put_escaped(FILE *to, const char *text, size_t n)
{
    static const struct {
        char c;
        const char *escape;
    } special[] = { { '\\', "\\e" },  { '-', "\\-" },   { '\'', "\\(aq" }, { '`', "\\(ga" },
                    { '^', "\\(ha" }, { '~', "\\(ti" }, { '"', "\\(dq" } };

    for (size_t i = 0; i < n; i++) {
        const char *escape = NULL;
        for (int k = 0; k < COUNT(special); k++)
            if (special[k].c == text[i])
                escape = special[k].escape;
        if (escape)
            fputs(escape, to);
        else
            fputc(text[i], to);
    }
}

static void put_text(FILE *to, const char *text)
{
    put_escaped(to, text, strlen(text));
}

/* Lines of words. One that began with a dot would be a request: a zero-width character precedes
 * it. */
static void put_words(FILE *to, const char *text, size_t length)
{
    enum { WIDTH = 60 };
    const char *end = text + length;
    size_t column = 0, n;

    for (text += strspn(text, " \n"); text < end; text += n + strspn(text + n, " \n")) {
        n = strcspn(text, " \n");
        if (column)
            fputc(column + n > WIDTH ? '\n' : ' ', to);
        column = column + n > WIDTH ? 0 : column;
        if (column == 0 && *text == '.')
            fputs("\\&", to);
        put_escaped(to, text, n);
        column += n + 1;
    }
    fputc('\n', to);
}

static void put_paragraph(FILE *to, const char *text)
{
    put_words(to, text, strlen(text));
}

/* A macro with one argument: the text. */
static void put_macro(FILE *to, const char *macro, const char *text)
{
    fprintf(to, ".%s \"", macro);
    put_text(to, text);
    fputs("\"\n", to);
}

/* The length of what stands before two spaces in a line, as in "spec CASE         print ..."; 0:
 * the line is no row of such a table. */
static size_t term_length(const char *line)
{
    for (size_t n = 0; line[n] && line[n] != '\n'; n++)
        if (line[n] == ' ' && line[n + 1] == ' ')
            return n;
    return 0;
}

/* The text of a command: paragraphs, between blank lines, and rows of a table, whose further lines
 * are indented. */
static void put_description(FILE *to, const char *text)
{
    while (*text) {
        size_t term = term_length(text), n = 0;
        do {
            n += strcspn(text + n, "\n");
            n += text[n] == '\n';
        } while (text[n] && text[n] != '\n' && (term ? text[n] == ' ' : !term_length(text + n)));
        fputs(term ? ".TP\n.B \"" : ".PP\n", to);
        if (term) {
            put_escaped(to, text, term);
            fputs("\"\n", to);
        }
        put_words(to, text + term, n - term);
        text += n + strspn(text + n, "\n");
    }
}

static void put_rows(FILE *to, const struct help_row *rows)
{
    for (; rows->term; rows++) {
        fputs(".TP\n", to);
        put_macro(to, "B", rows->term);
        put_paragraph(to, rows->text);
    }
}

static void put_usage(FILE *to, const struct command *c)
{
    fprintf(to, "\\fBhalcyon ");
    put_text(to, c->name);
    fputs("\\fR", to);
    if (*c->synopsis)
        fputc(' ', to);
    put_text(to, c->synopsis);
    fputc('\n', to);
}

static void put_command(FILE *to, const struct command *c)
{
    struct option_facts o;
    char title[64];

    snprintf(title, sizeof title, "halcyon %s", c->name);
    put_macro(to, "SS", title);
    put_usage(to, c);
    put_description(to, c->text);
    for (int at = 0; options_next(c, &at, &o);) {
        if (strcmp(o.name, "help") == 0)
            continue;
        fputs(".TP\n", to);
        if (o.letter)
            fprintf(to, "\\fB\\-%c\\fR, ", o.letter);
        fputs("\\fB\\-\\-", to);
        put_text(to, o.name);
        fputs("\\fR", to);
        if (o.argument) {
            fputs(" \\fI", to);
            put_text(to, o.argument);
            fputs("\\fR", to);
        }
        fputc('\n', to);
        put_paragraph(to, o.help);
    }
}

void man_page_print(FILE *to)
{
    fputs(".TH HALCYON 1 \"\" \"Halcyon " HALCYON_VERSION "\" \"User Commands\"\n", to);
    put_macro(to, "SH", "NAME");
    put_text(to, "halcyon - simulator and conformance harness for Android NN drivers\n");
    put_macro(to, "SH", "SYNOPSIS");
    for (int i = 0; i < command_table_n; i++) {
        put_usage(to, &command_table[i]);
        fputs(".br\n", to);
    }
    fputs("\\fBhalcyon \\-\\-version\\fR [\\fB\\-v\\fR]\n", to);
    put_macro(to, "SH", "DESCRIPTION");
    put_paragraph(to, "Halcyon answers one question about a driver of Android's Neural Networks "
                      "HAL, on an ordinary machine:");
    put_paragraph(to, help_purpose);
    fputs(".PP\n", to);
    put_paragraph(to, "It runs models and random graphs on drivers and on simulated devices, and "
                      "compares every output with a reference that computes in double.");
    put_macro(to, "SH", "COMMANDS");
    put_paragraph(to, "Every command takes --help. Options may be abbreviated.");
    for (int i = 0; i < command_table_n; i++)
        put_command(to, &command_table[i]);
    put_macro(to, "SH", "TARGETS");
    put_paragraph(to, "A target is a driver and where it runs:");
    put_rows(to, help_targets);
    fputs(".PP\n", to);
    put_paragraph(to, "A sim: target takes options after a '?', with '&' between them:");
    put_rows(to, help_target_options);
    put_macro(to, "SH", "EXIT STATUS");
    put_rows(to, help_exit_statuses);
    put_macro(to, "SH", "ENVIRONMENT");
    put_rows(to, environment);
    fputs(".PP\n", to);
    put_paragraph(to,
                  "The NNAPI runtime and support library, in applications and below rt: and sl:, "
                  "read also:");
    put_rows(to, runtime_environment);
    put_macro(to, "SH", "FILES");
    put_paragraph(to, "All but the first are below the prefix of the installation.");
    put_rows(to, files);
    put_macro(to, "SH", "EXAMPLES");
    put_rows(to, examples);
    put_macro(to, "SH", "SEE ALSO");
    fputs(".BR pkg\\-config (1),\n.BR sqlite3 (1)\n", to);
}
