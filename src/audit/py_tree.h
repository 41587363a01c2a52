/*
 * A Python file as a flat array of syntax nodes, in the order of the text: the subtree of node i
 * is [i, last). Made once from tree-sitter's tree, so that everything after it is linear and knows
 * nothing of the parser. Node 0 is the module. Owned by the caller (eco_py_done); the text is
 * borrowed. Not thread-safe; one tree per thread.
 * Errors: ECO_E_UNSUPPORTED without the grammar, ECO_E_TOO_LARGE when the parser gives up.
 */
#ifndef ECO_AUDIT_PY_TREE_H
#define ECO_AUDIT_PY_TREE_H

#include "eco_err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(KIND, "name in the grammar"); several names may share a kind. */
#define ECO_PY_KINDS(X)                                                                            \
    X(OTHER, "")                                                                                   \
    X(MODULE, "module")                                                                            \
    X(CALL, "call")                                                                                \
    X(ATTRIBUTE, "attribute")                                                                      \
    X(IDENTIFIER, "identifier")                                                                    \
    X(ARGUMENTS, "argument_list")                                                                  \
    X(KEYWORD, "keyword_argument")                                                                 \
    X(DICT_SPLAT, "dictionary_splat")                                                              \
    X(LIST_SPLAT, "list_splat")                                                                    \
    X(STRING, "string")                                                                            \
    X(STRING_CONTENT, "string_content")                                                            \
    X(INTERPOLATION, "interpolation")                                                              \
    X(CONCATENATED, "concatenated_string")                                                         \
    X(INTEGER, "integer")                                                                          \
    X(FLOAT, "float")                                                                              \
    X(TRUE, "true")                                                                                \
    X(FALSE, "false")                                                                              \
    X(NONE, "none")                                                                                \
    X(DICT, "dictionary")                                                                          \
    X(PAIR, "pair")                                                                                \
    X(LIST, "list")                                                                                \
    X(TUPLE, "tuple")                                                                              \
    X(SET, "set")                                                                                  \
    X(EXPRESSION_LIST, "expression_list")                                                          \
    X(ASSIGNMENT, "assignment")                                                                    \
    X(AUGMENTED, "augmented_assignment")                                                           \
    X(NAMED, "named_expression")                                                                   \
    X(FUNCTION, "function_definition")                                                             \
    X(CLASS, "class_definition")                                                                   \
    X(LAMBDA, "lambda")                                                                            \
    X(PARAMETERS, "parameters")                                                                    \
    X(LAMBDA_PARAMETERS, "lambda_parameters")                                                      \
    X(DEFAULT_PARAMETER, "default_parameter")                                                      \
    X(TYPED_PARAMETER, "typed_parameter")                                                          \
    X(TYPED_DEFAULT, "typed_default_parameter")                                                    \
    X(DICT_SPLAT_PATTERN, "dictionary_splat_pattern")                                              \
    X(LIST_SPLAT_PATTERN, "list_splat_pattern")                                                    \
    X(PATTERN_LIST, "pattern_list")                                                                \
    X(TUPLE_PATTERN, "tuple_pattern")                                                              \
    X(LIST_PATTERN, "list_pattern")                                                                \
    X(RETURN, "return_statement")                                                                  \
    X(DELETE, "delete_statement")                                                                  \
    X(YIELD, "yield")                                                                              \
    X(FOR, "for_statement")                                                                        \
    X(WHILE, "while_statement")                                                                    \
    X(IF, "if_statement")                                                                          \
    X(ELIF, "elif_clause")                                                                         \
    X(ELSE, "else_clause")                                                                         \
    X(TRY, "try_statement")                                                                        \
    X(EXCEPT, "except_clause")                                                                     \
    X(CASE, "case_clause")                                                                         \
    X(WITH, "with_statement")                                                                      \
    X(AS_PATTERN, "as_pattern")                                                                    \
    X(IMPORT, "import_statement")                                                                  \
    X(IMPORT_FROM, "import_from_statement")                                                        \
    X(ALIASED, "aliased_import")                                                                   \
    X(DOTTED, "dotted_name")                                                                       \
    X(LIST_COMP, "list_comprehension")                                                             \
    X(SET_COMP, "set_comprehension")                                                               \
    X(DICT_COMP, "dictionary_comprehension")                                                       \
    X(GENERATOR, "generator_expression")                                                           \
    X(FOR_IN, "for_in_clause")                                                                     \
    X(SUBSCRIPT, "subscript")                                                                      \
    X(SLICE, "slice")                                                                              \
    X(UNARY, "unary_operator")                                                                     \
    X(NOT, "not_operator")                                                                         \
    X(BOOLEAN, "boolean_operator")                                                                 \
    X(BINARY, "binary_operator")                                                                   \
    X(COMPARISON, "comparison_operator")                                                           \
    X(CONDITIONAL, "conditional_expression")                                                       \
    X(PAREN, "parenthesized_expression")                                                           \
    X(AWAIT, "await")                                                                              \
    X(COMMENT, "comment")                                                                          \
    X(BLOCK, "block")                                                                              \
    X(STATEMENT, "expression_statement")                                                           \
    X(DECORATED, "decorated_definition")                                                           \
    X(DECORATOR, "decorator")                                                                      \
    X(ERROR, "ERROR")

enum eco_py_kind {
#define X(kind, name) ECO_PY_##kind,
    ECO_PY_KINDS(X)
#undef X
        ECO_PY_KINDS_COUNT
};

#define ECO_PY_FIELDS(X)                                                                           \
    X(FUNCTION, "function")                                                                        \
    X(ARGUMENTS, "arguments")                                                                      \
    X(OBJECT, "object")                                                                            \
    X(ATTRIBUTE, "attribute")                                                                      \
    X(NAME, "name")                                                                                \
    X(VALUE, "value")                                                                              \
    X(LEFT, "left")                                                                                \
    X(RIGHT, "right")                                                                              \
    X(BODY, "body")                                                                                \
    X(PARAMETERS, "parameters")                                                                    \
    X(KEY, "key")                                                                                  \
    X(OPERATOR, "operator")                                                                        \
    X(OPERATORS, "operators")                                                                      \
    X(ARGUMENT, "argument")                                                                        \
    X(CONDITION, "condition")                                                                      \
    X(CONSEQUENCE, "consequence")                                                                  \
    X(ALTERNATIVE, "alternative")                                                                  \
    X(SUBSCRIPT, "subscript")                                                                      \
    X(MODULE_NAME, "module_name")                                                                  \
    X(ALIAS, "alias")                                                                              \
    X(DEFINITION, "definition")                                                                    \
    X(EXPRESSION, "expression")

enum eco_py_field {
    ECO_PYF_NONE,
#define X(field, name) ECO_PYF_##field,
    ECO_PY_FIELDS(X)
#undef X
        ECO_PYF_COUNT
};

#define ECO_PY_NO UINT32_MAX /* no such node */

struct eco_py_node {
    uint32_t start, end; /* bytes [start, end) */
    uint32_t row, col;   /* of start, from 0, in bytes */
    uint32_t end_row;
    uint32_t parent, next, first; /* ECO_PY_NO: none */
    uint32_t last;                /* the subtree is [i, last) */
    uint8_t kind, field;
};

struct eco_py_tree {
    const char *text; /* borrowed */
    size_t len;
    struct eco_py_node *nodes; /* owned */
    uint32_t count, cap;
};

/** false: the program was built without the grammar. */
bool eco_py_available(void);
int eco_py_parse(struct eco_py_tree *t, const char *text, size_t len, struct eco_err *err);
void eco_py_done(struct eco_py_tree *t); /* accepts NULL */

/** The child of `i` under a field, ECO_PY_NO: none. */
uint32_t eco_py_child(const struct eco_py_tree *t, uint32_t i, enum eco_py_field field);
/** The text of a node equals `s`. */
bool eco_py_is(const struct eco_py_tree *t, uint32_t i, const char *s);
/** `needle` occurs in the text of the node, case-folded (ASCII). */
bool eco_py_mentions(const struct eco_py_tree *t, uint32_t i, const char *needle);
/** The nearest ancestor (not `i` itself) of that kind below `stop`, or ECO_PY_NO. */
bool eco_py_inside(const struct eco_py_tree *t, uint32_t i, uint32_t ancestor);

#endif
