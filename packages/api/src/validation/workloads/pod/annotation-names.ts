/** The names of annotations, and their size together. */

import { invalid, tooLong } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { sortKeys } from '../../../values/key-order.ts';
import { byteLength, qualifiedNameReasons } from '../../formats.ts';
import type { TextMap } from '../base/checks.ts';

const annotationBytesMax = 256 * 1024;

/** Keys are compared without case. */
export function checkAnnotationNames(errors: FieldError[], path: string, annotations: TextMap | undefined): void {
  let bytes = 0;
  for (const name of sortKeys(Object.keys(annotations ?? {}))) {
    bytes += byteLength(name) + byteLength(annotations![name]!);
    for (const reason of qualifiedNameReasons(name.toLowerCase())) errors.push(invalid(path, name, reason));
  }
  if (bytes > annotationBytesMax) errors.push(tooLong(path, annotationBytesMax));
}
