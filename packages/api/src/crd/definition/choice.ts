/** Fields that must be one of a few texts. */

import { notSupported, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';

export function choiceErrors(path: string, value: string, accepted: readonly string[]): FieldError[] {
  if (value === '') return [required(path, '')];
  return accepted.includes(value) ? [] : [notSupported(path, value, accepted)];
}
