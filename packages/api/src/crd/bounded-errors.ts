/**
 * Limits the number of errors of one object. Kubernetes lists them all; but a long list of invalid items under a long name, or a rule with
 * a long message, would make an answer many times the size of the request.
 */

import type { FieldError } from '../status/field-error.ts';

/** Number of errors after which the search stops. */
export const errorsMax = 10_000;
/** Characters of paths, values and details together; the first error is always kept. */
const charactersMax = 4_000_000;

/** The first errors, as many as fit into one answer. */
export function boundedErrors(errors: FieldError[]): FieldError[] {
  let room = charactersMax;
  const end = errors.findIndex(({ path, value, detail }, i) => {
    room -= path.length + detail.length + (typeof value === 'string' ? value.length : 20);
    return i > 0 && (room < 0 || i >= errorsMax);
  });
  return end === -1 ? errors : errors.slice(0, end);
}
