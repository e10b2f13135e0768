#include "reports/spec_tokens.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/real_text.h"
#include "golden/golden.h"

enum element {
    ELEMENT_BOOLEAN,
    ELEMENT_U8,
    ELEMENT_S8,
    ELEMENT_U16,
    ELEMENT_S16,
    ELEMENT_S32,
    ELEMENT_F16,
    ELEMENT_F32,
    ELEMENT_COUNT
};
static const struct {
    int plane, size;  /* its planes: the first one, how many */
    int64_t min, max; /* of whole numbers */
} element_info[ELEMENT_COUNT] = {
    [ELEMENT_BOOLEAN] = { 1, 1, 0, 1 },
    [ELEMENT_U8] = { 1, 1, 0, UINT8_MAX },
    [ELEMENT_S8] = { 1, 1, INT8_MIN, INT8_MAX },
    [ELEMENT_U16] = { 2, 2, 0, UINT16_MAX },
    [ELEMENT_S16] = { 2, 2, INT16_MIN, INT16_MAX },
    [ELEMENT_S32] = { 4, 4, INT32_MIN, INT32_MAX },
    [ELEMENT_F16] = { 2, 2, 0, 0 },
    [ELEMENT_F32] = { 8, 4, 0, 0 },
};

enum code {
    CODE_LIST = 1, /* + enum element */
    CODE_FLAT_LIST = 11,
    CODE_DECLARATION = 19, /* + index in declarations */
    CODE_COMMA_NEXT = 25,
    CODE_NEXT,
    CODE_NAME,
};

static const struct {
    char letter;
    const char *constructor;
} declarations[] = { { 'c', "Parameter" }, { 't', "Internal" },      { 'i', "Input" },
                     { 'o', "Output" },    { 'o', "IgnoredOutput" }, { 'n', "Parameter" } };
static const char letters[] = "ctions"; /* of operands that lines declare */

enum { NUMBERS = 1 << 14, PREFIX = 16, WIDTH = 100 };

/* The operands declared so far whose names have the prefix of the last one. */
struct names {
    char prefix[PREFIX]; /* "g1_"; of the main graph "" */
    uint32_t next,
        last; /* the number after the last declaration; the number of the last name + 1 */
    char letter[NUMBERS];
};

static bool make_room(struct spec_bytes *b, size_t n)
{
    if (b->room - b->n >= n)
        return true;
    size_t room = 2 * b->room + n + 256;
    unsigned char *at = realloc(b->at, room);
    if (!at)
        return false;
    b->at = at;
    b->room = room;
    return true;
}

static bool add(struct spec_bytes *b, const void *bytes, size_t n)
{
    if (!make_room(b, n))
        return false;
    if (n)
        memcpy(b->at + b->n, bytes, n);
    b->n += n;
    return true;
}

static bool add_text(struct spec_bytes *b, const char *text)
{
    return add(b, text, strlen(text));
}

/* A decimal number below NUMBERS without leading zeros; returns its digits, 0: there is none. */
static size_t read_number(const char *s, size_t n, uint32_t *ret_number)
{
    uint32_t number = 0;
    size_t i = 0;
    while (i < n && i < 6 && s[i] >= '0' && s[i] <= '9')
        number = 10 * number + (uint32_t) (s[i++] - '0');
    if (!i || number >= NUMBERS || (s[0] == '0' && i > 1))
        return 0;
    *ret_number = number;
    return i;
}

/* Whether the text begins with the name of an operand, of which *ret_prefix bytes are the prefix;
 * returns its length. */
static size_t read_name(const char *s, size_t n, size_t *ret_prefix, uint32_t *ret_number)
{
    size_t prefix = 0, digits;
    uint32_t graph;
    if (n && s[0] == 'g' && (digits = read_number(s + 1, n - 1, &graph)) > 0 && digits + 1 < n &&
        s[digits + 1] == '_')
        prefix = digits + 2;
    if (prefix >= n || !s[prefix] || !strchr(letters, s[prefix]))
        return 0;
    digits = read_number(s + prefix + 1, n - prefix - 1, ret_number);
    *ret_prefix = prefix;
    return digits ? prefix + 1 + digits : 0;
}

/* Learns from a line that declares an operand: NAME = ... */
static void observe(struct names *names, const char *line, size_t n)
{
    uint32_t number = 0;
    size_t prefix = 0, length = read_name(line, n, &prefix, &number);
    if (!length || n - length < 3 || memcmp(line + length, " = ", 3) != 0 || prefix >= PREFIX)
        return;
    if (strlen(names->prefix) != prefix || memcmp(names->prefix, line, prefix) != 0) {
        memset(names, 0, sizeof *names);
        memcpy(names->prefix, line, prefix);
    }
    names->letter[number] = line[prefix];
    names->next = number + 1;
}

/* Appends a part to a text; returns the end. */
static char *put(char *to, const char *part)
{
    const size_t n = strlen(part);
    memcpy(to, part, n + 1);
    return to + n;
}

static char *put_name(char *to, const struct names *names, char letter, uint32_t number)
{
    char digits[REAL_TEXT];
    to = put(to, names->prefix);
    *to++ = letter;
    return put(to, whole_text(number, digits));
}

/* The name of a declared operand; returns its length, 0: there is none of the number. */
static size_t name_of(const struct names *names, uint32_t number, char text[REAL_TEXT])
{
    if (number >= NUMBERS || !names->letter[number])
        return 0;
    return (size_t) (put_name(text, names, names->letter[number], number) - text);
}

/* The beginning of the line that declares the next operand; returns its length, 0: no such one. */
static size_t declaration_of(const struct names *names, int row, char text[96])
{
    const char letter = declarations[row].letter;
    if (names->next >= NUMBERS)
        return 0;
    char *to = put(put_name(text, names, letter, names->next), " = ");
    to = put(put(to, declarations[row].constructor), "(\"");
    to = put(put_name(to, names, letter, names->next), "\", ");
    return (size_t) (to - text);
}

/* --- lists of numbers */

static uint32_t bits_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits << 1 | bits >> 31;
}

static float float_of_bits(uint32_t rotated)
{
    uint32_t bits = rotated >> 1 | rotated << 31;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t element_bits(enum element e, double x)
{
    switch (e) {
    case ELEMENT_F32: return bits_of_float((float) x);
    case ELEMENT_F16: return f16_from_double(x);
    default: return (uint32_t) (int64_t) x;
    }
}

static const char *element_text(enum element e, uint32_t bits, char text[REAL_TEXT])
{
    double x;
    switch (e) {
    case ELEMENT_BOOLEAN: return bits ? "True" : "False";
    case ELEMENT_S8: return whole_text((int8_t) bits, text);
    case ELEMENT_S16: return whole_text((int16_t) bits, text);
    case ELEMENT_S32: return whole_text((int32_t) bits, text);
    case ELEMENT_F16: x = f16_to_double((uint16_t) bits); break;
    case ELEMENT_F32: x = (double) float_of_bits(bits); break;
    default: return whole_text(bits, text);
    }
    if (isfinite(x))
        return real_text(x, text);
    snprintf(text, REAL_TEXT, "float(\"%s%s\")", signbit(x) ? "-" : "", isnan(x) ? "nan" : "inf");
    return text;
}

/* Writes elements, from those at `from` of their planes on, as specs/write_modpy.c does, without
 * brackets.  They must be there. */
static bool add_list(struct spec_bytes *to, const struct spec_planes *p, enum element e,
                     size_t from, size_t n, bool wrapped, size_t most)
{
    const struct spec_bytes *plane = p->plane + element_info[e].plane;
    size_t column = WIDTH / 2;
    char text[REAL_TEXT];
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = 0;
        for (int k = 0; k < element_info[e].size; k++)
            bits |= (uint32_t) plane[k].at[from + i] << 8 * k;
        const char *element = element_text(e, bits, text);
        bool wrap = wrapped && column + strlen(element) + 2 > WIDTH;
        if (!add_text(to, !i     ? (wrap ? "\n    " : "")
                          : wrap ? ",\n    "
                                 : ", ") ||
            !add_text(to, element) || to->n > most)
            return false;
        column = (wrap ? 4 : column) + strlen(element) + 2;
    }
    return true;
}

/* --- text to planes */

enum kind { KIND_BOOLEAN = 1, KIND_WHOLE, KIND_REAL }; /* of all elements of a list */

struct splitter {
    struct names names;
    struct spec_planes *to;
    double *value; /* of the list that is being read; malloced */
    size_t room;
    struct spec_bytes again; /* the text that its elements give */
    const struct tensor *const *list;
    size_t n_lists; /* that are left */
};

static bool make_room_for_values(struct splitter *s, size_t n)
{
    if (n <= s->room)
        return true;
    size_t room = n + n / 2 + 64;
    double *larger = realloc(s->value, room * sizeof *larger);
    if (!larger)
        return false;
    s->value = larger;
    s->room = room;
    return true;
}

/* Reads an element.  Returns its end; *ret_kind 0: there is none. */
static const char *read_element(const char *at, double *ret_value, enum kind *ret_kind)
{
    const size_t length = strcspn(at, ",[]\n");
    char *end = (char *) at;
    *ret_kind = KIND_REAL;
    if (!strncmp(at, "True", 4) || !strncmp(at, "False", 5)) {
        *ret_kind = KIND_BOOLEAN;
        *ret_value = *at == 'T';
        return at + (*at == 'T' ? 4 : 5);
    }
    if (!strncmp(at, "float(\"", 7)) {
        *ret_value = strtod(at + 7, &end);
        if (end == at + 7 || strncmp(end, "\")", 2) != 0)
            *ret_kind = 0;
        return end + 2;
    }
    if (memchr(at, '.', length) || memchr(at, 'e', length)) {
        *ret_value = (double) strtof(at, &end);
    } else {
        *ret_kind = KIND_WHOLE;
        *ret_value = (double) strtoll(at, &end, 10);
    }
    if (end == at)
        *ret_kind = 0;
    return end;
}

/* Reads a list up to "]", returns the number of its elements; 0: it is not one of numbers alone. */
static size_t read_list(struct splitter *s, const char *at, const char **ret_end,
                        enum kind *ret_kind)
{
    enum kind kind;
    for (size_t n = 0;; n++) {
        at += strspn(at, "\n ");
        double x = 0;
        const char *end = read_element(at, &x, &kind);
        if (!kind || (n && kind != *ret_kind) || (*end != ',' && *end != ']') ||
            !make_room_for_values(s, n + 1))
            return 0;
        *ret_kind = kind;
        s->value[n] = x;
        *ret_end = end;
        if (*end == ']')
            return n + 1;
        at = end + 1;
    }
}

/* The smallest type that has the first n values of a list; ELEMENT_COUNT: none has. */
static enum element element_of(const struct splitter *s, size_t n, enum kind kind)
{
    double least = 0, largest = 0;
    bool half = kind == KIND_REAL;
    enum element e = ELEMENT_U8;
    if (kind == KIND_BOOLEAN)
        return ELEMENT_BOOLEAN;
    for (size_t i = 0; i < n && half; i++) {
        const double x = s->value[i];
        half = isnan(x) || f16_to_double(f16_from_double(x)) - x == 0 || isinf(x);
    }
    if (kind == KIND_REAL)
        return half ? ELEMENT_F16 : ELEMENT_F32;
    for (size_t i = 0; i < n; i++) {
        least = s->value[i] < least ? s->value[i] : least;
        largest = s->value[i] > largest ? s->value[i] : largest;
    }
    while (e < ELEMENT_F16 &&
           (least < (double) element_info[e].min || largest > (double) element_info[e].max))
        e++;
    return e < ELEMENT_F16 ? e : ELEMENT_COUNT;
}

/* Adds the first n values to the planes of their type. */
static bool add_values(struct splitter *s, size_t n, enum element e)
{
    enum { RUN = 64 };
    struct spec_bytes *plane = s->to->plane + element_info[e].plane;
    uint32_t bits[RUN];
    for (int k = 0; k < element_info[e].size; k++)
        if (!make_room(plane + k, n))
            return false;
    for (size_t at = 0; at < n; at += RUN) {
        const size_t run = n - at < RUN ? n - at : RUN;
        for (size_t i = 0; i < run; i++)
            bits[i] = element_bits(e, s->value[at + i]);
        for (int k = 0; k < element_info[e].size; k++) {
            unsigned char *to = plane[k].at + plane[k].n;
            for (size_t i = 0; i < run; i++)
                to[i] = (unsigned char) (bits[i] >> 8 * k);
            plane[k].n += run;
        }
    }
    return true;
}

/* Adds the code of a list of n elements. */
static bool add_list_code(struct splitter *s, size_t n, enum element e, bool wrapped)
{
    char code[REAL_TEXT + 1] = { (char) ((wrapped ? CODE_LIST : CODE_FLAT_LIST) + (int) e) };
    whole_text((int64_t) n, code + 1);
    return add_text(s->to->plane, code);
}

/* Splits the list that begins at "[", if its numbers give the same text again; returns how many
 * bytes it has, without "]". */
static size_t split_list(struct splitter *s, const char *text)
{
    enum { FEWEST = 2 };
    const char *end = NULL;
    enum kind kind = 0;
    const size_t n = read_list(s, text + 1, &end, &kind);
    const enum element e = n < FEWEST ? ELEMENT_COUNT : element_of(s, n, kind);
    if (e == ELEMENT_COUNT || !add_values(s, n, e))
        return 0;
    struct spec_bytes *plane = s->to->plane + element_info[e].plane;
    const size_t from = plane->n - n, length = (size_t) (end - text - 1);
    for (int flat = 0; flat < 2; flat++) {
        s->again.n = 0;
        if (add_list(&s->again, s->to, e, from, n, !flat, SIZE_MAX) && s->again.n == length &&
            !memcmp(s->again.at, text + 1, length) && add_list_code(s, n, e, !flat))
            return length + 1;
    }
    for (int k = 0; k < element_info[e].size; k++)
        plane[k].n = from;
    return 0;
}

/* Adds the list that a mark stands for, without "]"; whether that can be done. */
static bool split_mark(struct splitter *s)
{
    if (!s->n_lists)
        return false;
    const struct tensor *t = *s->list++;
    const struct codec *codec = dtype_info[t->dtype].codec;
    const size_t n = tensor_count(t);
    s->n_lists--;
    if (n < 2 || codec->size > sizeof(uint32_t) || !make_room_for_values(s, n))
        return false;
    codec->widen(t->data, n, 0, 1, s->value);
    const bool is_boolean = t->dtype == DT_BOOL || t->dtype == DT_B8;
    for (size_t i = 0; i < n; i++)
        if (isnan(s->value[i])) /* the text has its sign alone */
            s->value[i] = copysign((double) NAN, s->value[i]);
        else if (is_boolean)
            s->value[i] = s->value[i] != 0;
    const enum element e = element_of(s, n,
                                      is_boolean       ? KIND_BOOLEAN
                                      : codec->integer ? KIND_WHOLE
                                                       : KIND_REAL);
    return e != ELEMENT_COUNT && add_values(s, n, e) && add_list_code(s, n, e, true) &&
           add_text(s->to->plane, "]");
}

static bool is_name_byte(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (unsigned char) c >= 128;
}

/* Splits the name of a declared operand, with ", " before it if it is the next one; returns its
 * bytes. */
static size_t split_name(struct splitter *s, const char *text, size_t n)
{
    const size_t comma = n > 2 && text[0] == ',' && text[1] == ' ' ? 2 : 0;
    uint32_t number = 0;
    size_t prefix = 0, length = read_name(text + comma, n - comma, &prefix, &number);
    char name[REAL_TEXT], code[REAL_TEXT + 1] = { 0 };
    if (!length || is_name_byte(text[comma + length]) ||
        name_of(&s->names, number, name) != length || memcmp(name, text + comma, length) != 0)
        return 0;
    if (number == s->names.last) {
        code[0] = comma ? CODE_COMMA_NEXT : CODE_NEXT;
    } else if (comma) {
        return 0;
    } else {
        code[0] = CODE_NAME;
        whole_text(number, code + 1);
    }
    s->names.last = number + 1;
    return add_text(s->to->plane, code) ? comma + length : 0;
}

static size_t split_declaration(struct splitter *s, const char *text, size_t n)
{
    char line[96];
    const size_t prefix = strlen(s->names.prefix);
    for (int row = 0; row < COUNT(declarations) && prefix < n; row++) {
        size_t length =
            text[prefix] == declarations[row].letter ? declaration_of(&s->names, row, line) : 0;
        if (length && length <= n && !memcmp(line, text, length))
            return add(s->to->plane, &(char){ (char) (CODE_DECLARATION + row) }, 1) ? length : 0;
    }
    return 0;
}

/* How many bytes from text[at] on begin neither a name nor a list; at least that one. */
static size_t plain_bytes(const char *text, size_t at, size_t n)
{
    const size_t from = at++;
    for (; at < n && (unsigned char) text[at] >= 32 && text[at] != ',' && text[at] != '['; at++)
        if (!is_name_byte(text[at - 1]) && (text[at] == 'g' || strchr(letters, text[at])))
            break;
    return at - from;
}

static bool split(struct splitter *s, const char *text, size_t n)
{
    size_t line = 0, at = 0;
    bool done = true;
    while (done && at < n) {
        size_t bytes = at == line ? split_declaration(s, text + at, n - at) : 0;
        if (!bytes && text[at] == '[')
            bytes = split_list(s, text + at);
        else if (!bytes && (!at || !is_name_byte(text[at - 1]) || text[at] == ','))
            bytes = split_name(s, text + at, n - at);
        if (!bytes) {
            bytes = (unsigned char) text[at] >= 32 ? plain_bytes(text, at, n) : 1;
            done = text[at] == SPEC_LIST ? split_mark(s)
                                         : ((unsigned char) text[at] >= 32 || text[at] == '\n') &&
                                               add(s->to->plane, text + at, bytes);
            if (text[at] == '\n') {
                observe(&s->names, text + line, at - line);
                line = at + 1;
            }
        }
        at += bytes;
    }
    return done && !s->n_lists;
}

bool spec_tokens_split_marked(const char *text, size_t n, const struct tensor *const *list,
                              size_t n_lists, struct spec_planes *ret_planes)
{
    struct splitter *s = calloc(1, sizeof *s);
    bool done = s != NULL;
    if (s) {
        s->to = ret_planes;
        s->list = list;
        s->n_lists = n_lists;
        done = split(s, text, n);
        free(s->value);
        free(s->again.at);
    }
    free(s);
    return done;
}

bool spec_tokens_split(const char *text, size_t n, struct spec_planes *ret_planes)
{
    return spec_tokens_split_marked(text, n, NULL, 0, ret_planes);
}

/* --- planes to text */

struct joiner {
    struct names names;
    const struct spec_planes *from;
    size_t used[SPEC_PLANES];
    size_t most;
    struct spec_bytes to;
    const char *why;
};

static bool fail(struct joiner *j, const char *why)
{
    if (!j->why)
        j->why = why;
    return false;
}

static bool join_list(struct joiner *j, enum element e, bool wrapped)
{
    const struct spec_bytes *text = j->from->plane;
    const int first = element_info[e].plane;
    size_t n = 0;
    while (j->used[0] < text->n && text->at[j->used[0]] >= '0' && text->at[j->used[0]] <= '9' &&
           n <= j->most)
        n = 10 * n + (size_t) (text->at[j->used[0]++] - '0');
    for (int k = 0; k < element_info[e].size; k++)
        if (j->from->plane[first + k].n - j->used[first + k] < n)
            return fail(j, "a list has more elements than there are numbers");
    if (!add_text(&j->to, "[") ||
        !add_list(&j->to, j->from, e, j->used[first], n, wrapped, j->most))
        return fail(j, "it is too long, or out of memory");
    for (int k = 0; k < element_info[e].size; k++)
        j->used[first + k] += n;
    return true;
}

static bool join_name(struct joiner *j, int code)
{
    uint32_t number = j->names.last;
    char name[REAL_TEXT];
    if (code == CODE_NAME) {
        size_t digits = read_number((const char *) j->from->plane->at + j->used[0],
                                    j->from->plane->n - j->used[0], &number);
        if (!digits)
            return fail(j, "the number of an operand is missing");
        j->used[0] += digits;
    }
    size_t length = name_of(&j->names, number, name);
    if (!length)
        return fail(j, "an operand is named that is not declared");
    j->names.last = number + 1;
    return ((code != CODE_COMMA_NEXT || add_text(&j->to, ", ")) && add(&j->to, name, length)) ||
           fail(j, "out of memory");
}

static bool join_code(struct joiner *j, int code)
{
    char line[96];
    if (code >= CODE_LIST && code < CODE_LIST + ELEMENT_COUNT)
        return join_list(j, (enum element)(code - CODE_LIST), true);
    if (code >= CODE_FLAT_LIST && code < CODE_FLAT_LIST + ELEMENT_COUNT)
        return join_list(j, (enum element)(code - CODE_FLAT_LIST), false);
    if (code >= CODE_COMMA_NEXT && code <= CODE_NAME)
        return join_name(j, code);
    if (code < CODE_DECLARATION || code >= CODE_DECLARATION + COUNT(declarations))
        return fail(j, "an unknown code");
    size_t length = declaration_of(&j->names, code - CODE_DECLARATION, line);
    return length ? add(&j->to, line, length) || fail(j, "out of memory")
                  : fail(j, "an operand has too large a number");
}

char *spec_tokens_join(const struct spec_planes *p, size_t most, size_t *ret_n,
                       const char **ret_why)
{
    struct joiner *j = calloc(1, sizeof *j);
    size_t line = 0;
    bool done = j != NULL;
    *ret_why = "out of memory";
    if (!j)
        return NULL;
    j->from = p;
    j->most = most;
    while (done && j->used[0] < p->plane->n) {
        unsigned char c = p->plane->at[j->used[0]++];
        if (c < 32 && c != '\n')
            done = join_code(j, c);
        else
            done = add(&j->to, &c, 1) || fail(j, "out of memory");
        if (done && c == '\n') {
            observe(&j->names, (const char *) j->to.at + line, j->to.n - 1 - line);
            line = j->to.n;
        }
        if (done && j->to.n > most)
            done = fail(j, "it is too long");
    }
    for (int k = 1; k < SPEC_PLANES && done; k++)
        if (j->used[k] != p->plane[k].n)
            done = fail(j, "it has numbers of no list");
    done = done && (add(&j->to, "", 1) || fail(j, "out of memory"));
    char *text = (char *) j->to.at;
    if (done) {
        *ret_n = j->to.n - 1;
    } else {
        *ret_why = j->why;
        free(text);
        text = NULL;
    }
    free(j);
    return text;
}

void spec_planes_free(struct spec_planes *p)
{
    for (int i = 0; i < SPEC_PLANES; i++)
        free(p->plane[i].at);
}
