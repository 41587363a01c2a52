/*
 * printf for short texts, without locale or memory: most of what is said about an answer is made of
 * %s, %d and a few digits of a number. The same bytes as vsnprintf, or a refusal.
 */
#ifndef ECO_BASE_FORMAT_H
#define ECO_BASE_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/**
 * Length written, NUL behind it; -1 when `fmt` has what is not known here (anything but %s %d %zu
 * %lld %.*f %.Nf %g %.Ng %%), a number lies too near the middle between two roundings, or `cap` is
 * too small: then ask vsnprintf. A NULL for %s is refused too.
 */
int eco_format(char *out, size_t cap, const char *fmt, va_list ap);

#endif
