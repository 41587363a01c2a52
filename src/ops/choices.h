/* The lists of names that parameters refer to as "@gpu", "@model", "@precision" … */
#ifndef ECO_OPS_CHOICES_H
#define ECO_OPS_CHOICES_H

void eco_choices_each(const char *list, void (*each)(void *to, const char *choice), void *to);

#endif
