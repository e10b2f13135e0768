/* Values as JSON, for a JSON library (jansson). */
#ifndef HARNESS_JSON_VALUE_H
#define HARNESS_JSON_VALUE_H

struct json_t;

/* A string of text from outside; NULL: out of memory. */
struct json_t *json_value_text(const char *text);
/* JSON has neither infinities nor NaN: they become the strings "NaN", "Infinity", "-Infinity". */
struct json_t *json_value_number(double x);

#endif
