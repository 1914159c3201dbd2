/** Path of a key of a ConfigMap or Secret in a volume. */

import { child } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { checkRequired } from '../base/checks.ts';
import { checkFileMode, checkLocalPath } from '../base/paths.ts';
import type { KeyToPath } from '../types/volume.ts';

export function checkKeyToPath(errors: FieldError[], path: string, item: KeyToPath): void {
  checkRequired(errors, child(path, 'key'), item.key);
  checkRequired(errors, child(path, 'path'), item.path);
  checkLocalPath(errors, child(path, 'path'), item.path ?? '');
  checkFileMode(errors, child(path, 'mode'), item.mode);
}
