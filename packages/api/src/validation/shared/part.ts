/** Checks one of any number of items. The validation may pause before it: see `inSlices`. */

import { once } from '@hangar/cel/work';
import type { FieldError } from '../../status/field-error.ts';

/** Appends the errors of `check`, which must only change its own list. */
export function checkPart(errors: FieldError[], check: (own: FieldError[]) => void): void {
  const found = once(() => {
    const own: FieldError[] = [];
    check(own);
    return own;
  });
  for (const error of found) errors.push(error);
}
