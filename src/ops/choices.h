/* The lists of names that parameters refer to as "@gpu", "@model", "@precision" … */
#ifndef ECO_OPS_CHOICES_H
#define ECO_OPS_CHOICES_H

void eco_choices_each(const char *list, void (*each)(void *to, const char *choice), void *to);

/** "@precision" or "@gpu" when the word is one by its exact name or alias, else NULL. */
const char *eco_choices_kind(const char *word);

#endif
