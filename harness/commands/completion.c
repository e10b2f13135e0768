/* Completion scripts: the tables of commands and options as definitions in the shell's language,
 * then the logic, a text file for each shell (completion.bash, completion.zsh, completion.fish). */
#include <string.h>

#include "harness/commands/help.h"

extern const char completion_bash[], completion_zsh[], completion_fish[];

/* Names of the kinds in the scripts. */
static const char *const kind_name[VALUE_KINDS] = {
    [VALUE_ANY] = "any",
    [VALUE_FILE] = "file",
    [VALUE_TARGET] = "target",
    [VALUE_FAULT] = "fault",
    [VALUE_HAL] = "hal",
    [VALUE_HAL_OR_ALL] = "hal_or_all",
    [VALUE_OPERATION] = "operation",
    [VALUE_OPERATIONS] = "operations",
    [VALUE_TYPE] = "type",
    [VALUE_TAG] = "tag",
    [VALUE_JUDGE] = "judge",
    [VALUE_ISOLATION] = "isolation",
    [VALUE_FORMAT] = "format",
    [VALUE_DB_ACTION] = "db_action",
    [VALUE_STYLE] = "style",
    [VALUE_PREFERENCE] = "preference",
    [VALUE_SHELL] = "shell",
    [VALUE_COLOUR] = "colour",
    [VALUE_COMMAND] = "command",
};

static const char *word_of(enum value_kind kind, int i)
{
    if (kind == VALUE_COMMAND)
        return i < command_table_n ? command_table[i].name : NULL;
    return value_word(kind, i);
}

static void put_words(enum value_kind kind, FILE *to)
{
    for (int i = 0; word_of(kind, i); i++)
        fprintf(to, "%s%s", i ? " " : "", word_of(kind, i));
}

/* Text inside single quotes: zsh takes '\'' for one of them, fish \'. In what zsh describes
 * options with, brackets and colons have a meaning of their own. */
static void put_quoted(const char *text, const char *quote, const char *special, FILE *to)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs(quote, to);
        else
            fprintf(to, "%s%c", strchr(special, *text) ? "\\" : "", *text);
    }
}

/* ---- bash */

static void put_bash(FILE *to)
{
    struct option_facts o;

    fputs("# Completion of halcyon for bash, as `halcyon help --completion bash` writes it.\n\n"
          "# The words of a kind of value.\n"
          "_halcyon_words() {\n    case $1 in\n",
          to);
    for (enum value_kind kind = VALUE_ANY; kind < VALUE_KINDS; kind++) {
        if (!word_of(kind, 0))
            continue;
        fprintf(to, "    %s) echo '", kind_name[kind]);
        put_words(kind, to);
        fputs("' ;;\n", to);
    }
    fputs("    esac\n}\n\n# The kind of the arguments of a command.\n"
          "_halcyon_argument() {\n    case $1 in\n",
          to);
    for (int i = 0; i < command_table_n; i++)
        fprintf(to, "    %s) echo %s ;;\n", command_table[i].name,
                kind_name[command_table[i].argument]);
    fputs("    esac\n}\n\n# The options of a command.\n"
          "_halcyon_options() {\n    case $1 in\n",
          to);
    for (int i = 0; i < command_table_n; i++) {
        fprintf(to, "    %s) echo '", command_table[i].name);
        for (int at = 0; options_next(&command_table[i], &at, &o);) {
            if (o.letter)
                fprintf(to, "-%c ", o.letter);
            fprintf(to, "--%s ", o.name);
        }
        fputs("' ;;\n", to);
    }
    fputs("    esac\n}\n\n"
          "# The kind of the value of option $2 of command $1; nothing where it takes none.\n"
          "_halcyon_value() {\n    case $1:$2 in\n",
          to);
    for (int i = 0; i < command_table_n; i++)
        for (int at = 0; options_next(&command_table[i], &at, &o);) {
            if (!o.argument)
                continue;
            fprintf(to, "    %s:--%s", command_table[i].name, o.name);
            if (o.letter)
                fprintf(to, " | %s:-%c", command_table[i].name, o.letter);
            fprintf(to, ") echo %s ;;\n", kind_name[o.value]);
        }
    fputs("    esac\n}\n\n", to);
    fputs(completion_bash, to);
}

/* ---- zsh */

/* An option for _arguments: '(-d --target)'{-d,--target=}'[help]:TARGET:_halcyon_target' */
static void put_zsh_option(const struct option_facts *o, FILE *to)
{
    fputs("      ", to);
    if (o->repeats)
        fputs("'*'", to);
    else if (o->letter)
        fprintf(to, "'(-%c --%s)'", o->letter, o->name);
    if (o->letter)
        fprintf(to, "{-%c%s,--%s%s}", o->letter, o->argument ? "+" : "", o->name,
                o->argument ? "=" : "");
    else
        fprintf(to, "--%s%s", o->name, o->argument ? "=" : "");
    fputs("'[", to);
    put_quoted(o->help, "'\\''", "[]:\\", to);
    fputs("]", to);
    if (o->argument) {
        fputs(":", to);
        put_quoted(o->argument, "'\\''", ":\\", to);
        if (o->value == VALUE_ANY)
            fputs(": ", to);
        else
            fprintf(to, ":_halcyon_%s", kind_name[o->value]);
    }
    fputs("'\n", to);
}

static void put_zsh(FILE *to)
{
    struct option_facts o;

    fputs("#compdef halcyon\n"
          "# Completion of halcyon for zsh, as `halcyon help --completion zsh` writes it.\n\n"
          "typeset -gA _halcyon_words\n",
          to);
    for (enum value_kind kind = VALUE_ANY; kind < VALUE_KINDS; kind++) {
        if (!word_of(kind, 0))
            continue;
        fprintf(to, "_halcyon_words[%s]='", kind_name[kind]);
        put_words(kind, to);
        fputs("'\n", to);
    }
    fputs("\n_halcyon_command() {\n  local -a commands=(\n", to);
    for (int i = 0; i < command_table_n; i++) {
        fprintf(to, "    '%s:", command_table[i].name);
        put_quoted(command_table[i].summary, "'\\''", ":\\", to);
        fputs("'\n", to);
    }
    fputs("  )\n  _describe command commands\n}\n\n"
          "# The options and arguments of a command, for _arguments.\n"
          "_halcyon_options() {\n  case $1 in\n",
          to);
    for (int i = 0; i < command_table_n; i++) {
        const struct command *c = &command_table[i];
        fprintf(to, "  %s)\n    specs=(\n", c->name);
        for (int at = 0; options_next(c, &at, &o);)
            put_zsh_option(&o, to);
        if (c->argument != VALUE_ANY)
            fprintf(to, "      '*:%s:_halcyon_%s'\n", kind_name[c->argument],
                    kind_name[c->argument]);
        fputs("    ) ;;\n", to);
    }
    fputs("  esac\n}\n\n", to);
    fputs(completion_zsh, to);
}

/* ---- fish */

static void put_fish_command(const struct command *c, FILE *to)
{
    struct option_facts o;

    fprintf(to, "complete -c halcyon -n __fish_use_subcommand -f -a %s -d '", c->name);
    put_quoted(c->summary, "\\'", "\\", to);
    fputs("'\n", to);
    for (int at = 0; options_next(c, &at, &o);) {
        fprintf(to, "complete -c halcyon -n '__fish_seen_subcommand_from %s' -l %s", c->name,
                o.name);
        if (o.letter)
            fprintf(to, " -s %c", o.letter);
        if (o.argument && o.value == VALUE_FILE)
            fputs(" -r -F", to);
        else if (o.argument && o.value == VALUE_ANY)
            fputs(" -x", to);
        else if (o.argument)
            fprintf(to, " -x -a '(__halcyon_%s)'", kind_name[o.value]);
        fputs(" -d '", to);
        put_quoted(o.help, "\\'", "\\", to);
        fputs("'\n", to);
    }
    fprintf(to, "complete -c halcyon -n '__fish_seen_subcommand_from %s'", c->name);
    if (c->argument == VALUE_FILE)
        fputs(" -F\n", to);
    else if (c->argument == VALUE_ANY)
        fputs(" -f\n", to);
    else
        fprintf(to, " -f -a '(__halcyon_%s)'\n", kind_name[c->argument]);
}

static void put_fish(FILE *to)
{
    fputs("# Completion of halcyon for fish, as `halcyon help --completion fish` writes it.\n\n",
          to);
    for (enum value_kind kind = VALUE_ANY; kind < VALUE_KINDS; kind++) {
        if (!word_of(kind, 0))
            continue;
        fprintf(to, "set -g __halcyon_words_%s ", kind_name[kind]);
        put_words(kind, to);
        fputs("\n", to);
    }
    fputs("\n", to);
    fputs(completion_fish, to);
    fputs("\n", to);
    for (int i = 0; i < command_table_n; i++)
        put_fish_command(&command_table[i], to);
}

void completion_print(const char *shell, FILE *to)
{
    if (!strcmp(shell, "bash"))
        put_bash(to);
    else if (!strcmp(shell, "zsh"))
        put_zsh(to);
    else
        put_fish(to);
}
