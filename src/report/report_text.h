/* Lines of text for terminals: cut, padded, wrapped; control characters never get through. */
#ifndef ECO_REPORT_TEXT_H
#define ECO_REPORT_TEXT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/** Appends `text` cut to `width` columns ("…" or "..." at a cut); returns the columns written. */
size_t eco_text_cut(struct eco_buf *out, const char *text, size_t width, bool ascii);
/** As eco_text_cut, then blanks up to `width`. */
void eco_text_pad(struct eco_buf *out, const char *text, size_t width, bool ascii);
/** Wraps at blanks; later lines start with `indent` blanks. Ends with a newline. */
void eco_text_wrap(struct eco_buf *out, const char *text, size_t width, size_t indent, bool ascii);
/** `text` without control characters; with `ascii`, known signs spelled out, others "?". */
void eco_text_clean(struct eco_buf *out, const char *text, bool ascii);
/** Blanks. */
void eco_text_blanks(struct eco_buf *out, size_t n);

#endif
