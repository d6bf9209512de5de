/* SPDX-License-Identifier: BSD-3-Clause */
/* Formulas: recursive descent to a postfix program, and its evaluation. */
#include "base/formula.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/math.h"
#include "base/text.h"

enum {
    FORMULA_DEPTH = 64,        /* values that wait; parentheses */
    FORMULA_MAX_BYTES = 65536, /* of text */
    FORMULA_NUMBER_BYTES = 64,
    FORMULA_SHOWN = 24 /* characters of a wrong word in a message */
};

enum formula_do {
    FORMULA_NUMBER,
    FORMULA_VARIABLE,
    FORMULA_NEGATE,
    FORMULA_ADD,
    FORMULA_SUBTRACT,
    FORMULA_MULTIPLY,
    FORMULA_DIVIDE,
    FORMULA_POWER,
    FORMULA_EXP,
    FORMULA_LOG,
    FORMULA_SQRT,
    FORMULA_CBRT,
    FORMULA_ABS,
    FORMULA_COS,
    FORMULA_SIN,
    FORMULA_STEP,
    FORMULA_MIN,
    FORMULA_MAX
};

struct formula_op {
    enum formula_do what;
    int variable;
    double number;
};

struct storm_formula {
    size_t n;
    struct formula_op ops[];
};

static const struct {
    const char *name;
    enum formula_do what;
    int n_values;
} formula_functions[] = {
    {"exp", FORMULA_EXP, 1},    {"log", FORMULA_LOG, 1},
    {"sqrt", FORMULA_SQRT, 1},  {"cbrt", FORMULA_CBRT, 1},
    {"abs", FORMULA_ABS, 1},    {"cos2pi", FORMULA_COS, 1},
    {"sin2pi", FORMULA_SIN, 1}, {"step", FORMULA_STEP, 1},
    {"min", FORMULA_MIN, 2},    {"max", FORMULA_MAX, 2},
};
enum {
    FORMULA_FUNCTIONS = sizeof formula_functions / sizeof formula_functions[0]
};

static const char formula_names[] = "txyz"; /* enum storm_formula_variable */

/* ---- text to program ---------------------------------------------------- */

struct formula_parser {
    const char *text, *at;
    const char *variables;  /* that may occur */
    struct formula_op *ops; /* NULL: only count */
    size_t n;
    int waiting; /* values, when the program has come here */
    int depth;   /* of parentheses and signs */
    bool failed;
    char *fault; /* NULL: none wanted */
};

/* The first fault is the one. */
static void formula_fault(struct formula_parser *p, const char *at,
                          const char *format, ...) STORM_PRINTF(3, 4);
static void formula_fault(struct formula_parser *p, const char *at,
                          const char *format, ...)
{
    if (p->failed)
        return;
    p->failed = true;
    if (p->fault == NULL)
        return;
    int n = snprintf(p->fault, STORM_FORMULA_FAULT_BYTES,
                     "column %zu: ", (size_t)(at - p->text) + 1);
    va_list args;
    va_start(args, format);
    vsnprintf(p->fault + n, STORM_FORMULA_FAULT_BYTES - (size_t)n, format,
              args);
    va_end(args);
}

/* `change`: of the number of values that wait. */
static void formula_emit(struct formula_parser *p, struct formula_op op,
                         int change)
{
    if (p->failed)
        return;
    p->waiting += change;
    if (p->waiting > FORMULA_DEPTH) {
        formula_fault(p, p->at, "expected at most %d values that wait",
                      FORMULA_DEPTH);
        return;
    }
    if (p->ops != NULL)
        p->ops[p->n] = op;
    p->n++;
}

static void formula_blanks(struct formula_parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')
        p->at++;
}

static bool formula_accept(struct formula_parser *p, char c)
{
    formula_blanks(p);
    if (p->failed || *p->at != c)
        return false;
    p->at++;
    return true;
}

static void formula_expect(struct formula_parser *p, char c)
{
    if (formula_accept(p, c))
        return;
    if (*p->at == '\0')
        formula_fault(p, p->at, "expected '%c', got the end", c);
    else
        formula_fault(p, p->at, "expected '%c', got '%.*s'", c, 1, p->at);
}

static void formula_sum(struct formula_parser *p);
static void formula_sign(struct formula_parser *p);

/* One more level; false: too many. */
static bool formula_enter(struct formula_parser *p)
{
    if (++p->depth > FORMULA_DEPTH)
        formula_fault(p, p->at, "expected at most %d levels of parentheses",
                      FORMULA_DEPTH);
    return !p->failed;
}

static bool formula_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* In every locale. */
static bool formula_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Digits, a point, and an exponent if digits follow it. */
static size_t formula_number_length(const char *at)
{
    size_t n = 0;
    while (formula_is_digit(at[n]) || at[n] == '.')
        n++;
    if (at[n] == 'e' || at[n] == 'E') {
        size_t sign = at[n + 1] == '-' || at[n + 1] == '+';
        if (formula_is_digit(at[n + 1 + sign]))
            n += 1 + sign;
        while (formula_is_digit(at[n]))
            n++;
    }
    return n;
}

static void formula_number(struct formula_parser *p)
{
    char text[FORMULA_NUMBER_BYTES];
    struct formula_op op = {.what = FORMULA_NUMBER};
    size_t n = formula_number_length(p->at);
    if (n >= sizeof text) {
        formula_fault(p, p->at, "expected a number of fewer digits");
        return;
    }
    memcpy(text, p->at, n);
    text[n] = '\0';
    if (!storm_text_to_real(text, &op.number)) {
        formula_fault(p, p->at, "expected a number, got '%.*s'", FORMULA_SHOWN,
                      text);
        return;
    }
    p->at += n;
    formula_emit(p, op, 1);
}

static bool formula_is(const char *name, const char *word, size_t n)
{
    return strlen(name) == n && memcmp(name, word, n) == 0;
}

static void formula_call(struct formula_parser *p, int i)
{
    int n = formula_functions[i].n_values;
    formula_expect(p, '(');
    if (!formula_enter(p))
        return;
    for (int k = 0; k < n; k++) {
        if (k > 0)
            formula_expect(p, ',');
        formula_sum(p);
    }
    formula_expect(p, ')');
    p->depth--;
    formula_emit(p, (struct formula_op){.what = formula_functions[i].what},
                 1 - n);
}

/* A variable, a constant or a function. */
static void formula_word(struct formula_parser *p)
{
    const char *word = p->at;
    size_t n = 0;
    while (formula_is_letter(word[n]) || formula_is_digit(word[n]))
        n++;
    p->at += n;
    if (formula_is("pi", word, n)) {
        formula_emit(p,
                     (struct formula_op){.what = FORMULA_NUMBER,
                                         .number = 3.14159265358979323846},
                     1);
        return;
    }
    for (int i = 0; i < FORMULA_FUNCTIONS; i++)
        if (formula_is(formula_functions[i].name, word, n)) {
            formula_call(p, i);
            return;
        }
    const char *name = n == 1 ? strchr(formula_names, word[0]) : NULL;
    if (name != NULL && strchr(p->variables, word[0]) != NULL) {
        formula_emit(p,
                     (struct formula_op){.what = FORMULA_VARIABLE,
                                         .variable =
                                             (int)(name - formula_names)},
                     1);
        return;
    }
    formula_fault(p, word,
                  "expected a number, a function or a variable of '%s', got "
                  "'%.*s'",
                  p->variables, (int)(n < FORMULA_SHOWN ? n : FORMULA_SHOWN),
                  word);
}

static void formula_primary(struct formula_parser *p)
{
    formula_blanks(p);
    if (p->failed)
        return;
    if (formula_is_digit(*p->at) || *p->at == '.') {
        formula_number(p);
    } else if (formula_is_letter(*p->at)) {
        formula_word(p);
    } else if (*p->at == '(') {
        p->at++;
        if (!formula_enter(p))
            return;
        formula_sum(p);
        formula_expect(p, ')');
        p->depth--;
    } else if (*p->at == '\0') {
        formula_fault(p, p->at, "expected a value, got the end");
    } else {
        formula_fault(p, p->at, "expected a value, got '%.*s'", 1, p->at);
    }
}

static void formula_power(struct formula_parser *p)
{
    formula_primary(p);
    if (!formula_accept(p, '^') || !formula_enter(p))
        return;
    formula_sign(p);
    p->depth--;
    formula_emit(p, (struct formula_op){.what = FORMULA_POWER}, -1);
}

static void formula_sign(struct formula_parser *p)
{
    bool minus = formula_accept(p, '-');
    if (!minus && !formula_accept(p, '+')) {
        formula_power(p);
        return;
    }
    if (!formula_enter(p))
        return;
    formula_sign(p);
    p->depth--;
    if (minus)
        formula_emit(p, (struct formula_op){.what = FORMULA_NEGATE}, 0);
}

static void formula_product(struct formula_parser *p)
{
    formula_sign(p);
    while (!p->failed) {
        enum formula_do what;
        if (formula_accept(p, '*'))
            what = FORMULA_MULTIPLY;
        else if (formula_accept(p, '/'))
            what = FORMULA_DIVIDE;
        else
            return;
        formula_sign(p);
        formula_emit(p, (struct formula_op){.what = what}, -1);
    }
}

static void formula_sum(struct formula_parser *p)
{
    formula_product(p);
    while (!p->failed) {
        enum formula_do what;
        if (formula_accept(p, '+'))
            what = FORMULA_ADD;
        else if (formula_accept(p, '-'))
            what = FORMULA_SUBTRACT;
        else
            return;
        formula_product(p);
        formula_emit(p, (struct formula_op){.what = what}, -1);
    }
}

static void formula_parse(struct formula_parser *p)
{
    p->at = p->text;
    if (strlen(p->text) > FORMULA_MAX_BYTES) {
        formula_fault(p, p->text, "expected at most %d characters",
                      FORMULA_MAX_BYTES);
        return;
    }
    formula_sum(p);
    formula_blanks(p);
    if (*p->at != '\0')
        formula_fault(p, p->at, "expected an operator or the end, got '%.*s'",
                      1, p->at);
}

storm_status storm_formula_check(const char *text, const char *variables,
                                 char fault_out[STORM_FORMULA_FAULT_BYTES])
{
    struct formula_parser p = {
        .text = text, .variables = variables, .fault = fault_out};
    formula_parse(&p);
    return p.failed ? STORM_ERR_ARG : STORM_OK;
}

struct storm_formula *storm_formula_make(struct storm_memory *memory,
                                         const char *text)
{
    struct formula_parser p = {.text = text, .variables = formula_names};
    formula_parse(&p);
    STORM_ASSERT(!p.failed);
    struct storm_formula *formula =
        storm_alloc(memory, "formulas",
                    sizeof *formula + p.n * sizeof formula->ops[0]);
    if (formula == NULL)
        return NULL;
    formula->n = p.n;
    p = (struct formula_parser){
        .text = text, .variables = formula_names, .ops = formula->ops};
    formula_parse(&p);
    return formula;
}

/* ---- values ------------------------------------------------------------- */

static double formula_turn(double turns, bool sine)
{
    double cosine, sine_of;
    storm_cos_sin_turns(turns - floor(turns), &cosine, &sine_of);
    return sine ? sine_of : cosine;
}

static double formula_of_one(enum formula_do what, double a)
{
    switch (what) {
    case FORMULA_NEGATE:
        return -a;
    case FORMULA_EXP:
        return storm_exp(a);
    case FORMULA_LOG:
        return storm_log(a);
    case FORMULA_SQRT:
        return sqrt(a);
    case FORMULA_CBRT:
        return storm_cbrt(a);
    case FORMULA_ABS:
        return fabs(a);
    case FORMULA_COS:
    case FORMULA_SIN:
        return formula_turn(a, what == FORMULA_SIN);
    default: /* FORMULA_STEP; NaN stays one */
        return a < 0.0 ? 0.0 : a >= 0.0 ? 1.0 : a;
    }
}

static double formula_of_two(enum formula_do what, double a, double b)
{
    switch (what) {
    case FORMULA_ADD:
        return a + b;
    case FORMULA_SUBTRACT:
        return a - b;
    case FORMULA_MULTIPLY:
        return a * b;
    case FORMULA_DIVIDE:
        return a / b;
    case FORMULA_POWER:
        return storm_pow(a, b);
    case FORMULA_MIN: /* fmin would hide NaN */
        return a < b || !(a == a) ? a : b;
    default: /* FORMULA_MAX */
        return a > b || !(a == a) ? a : b;
    }
}

double storm_formula_value(const struct storm_formula *formula,
                           const double variables[STORM_FORMULA_VARIABLES])
{
    double value[FORMULA_DEPTH + 1];
    int n = 0;
    for (size_t i = 0; i < formula->n; i++) {
        const struct formula_op *op = &formula->ops[i];
        switch (op->what) {
        case FORMULA_NUMBER:
            value[n++] = op->number;
            break;
        case FORMULA_VARIABLE:
            value[n++] = variables[op->variable];
            break;
        case FORMULA_ADD:
        case FORMULA_SUBTRACT:
        case FORMULA_MULTIPLY:
        case FORMULA_DIVIDE:
        case FORMULA_POWER:
        case FORMULA_MIN:
        case FORMULA_MAX:
            n--;
            value[n - 1] = formula_of_two(op->what, value[n - 1], value[n]);
            break;
        default:
            value[n - 1] = formula_of_one(op->what, value[n - 1]);
            break;
        }
    }
    return value[0];
}
