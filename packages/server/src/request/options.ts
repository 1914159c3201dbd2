/** Parses the options of writes from the query; error messages are those of kube-apiserver. */

import { forbidden, invalid, invalidObject, notSupported, required, tooLong } from '@hangar/api';
import type { FieldError } from '@hangar/api';
import type { PatchType } from './media.ts';
import type { Query } from './query.ts';

/** Handling of unknown fields. */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface WriteOptions {
  readonly isDryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /** Force of server-side apply. */
  readonly force: boolean;
}

export type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

const defaults: WriteOptions = { isDryRun: false, fieldManager: '', fieldValidation: 'Warn', force: false };

export function writeOptions(query: Query, kind: OptionsKind, patchType?: PatchType): WriteOptions {
  const force = query.flag('force');
  const fieldManager = query.text('fieldManager');
  const dryRun = query.all('dryRun');
  const fieldValidation = query.text('fieldValidation');
  const errors: FieldError[] = [];
  if (patchType === 'apply') {
    if (fieldManager === '') errors.push(required('fieldManager', 'is required for apply patch'));
  } else if (patchType !== undefined && force !== undefined) {
    errors.push(forbidden('force', 'may not be specified for non-apply patch'));
  }
  if (fieldManager !== '') errors.push(...fieldManagerErrors(fieldManager));
  errors.push(...dryRunErrors(dryRun));
  if (!['', 'Ignore', 'Strict', 'Warn'].includes(fieldValidation)) {
    errors.push(notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']));
  }
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind }, '', errors);
  if (fieldManager === '' && dryRun.length === 0 && fieldValidation === '' && force === undefined) return defaults;
  return {
    isDryRun: dryRun.includes('All'),
    fieldManager,
    fieldValidation: (fieldValidation || 'Warn') as FieldValidation,
    force: force ?? false,
  };
}

export function dryRunErrors(dryRun: readonly string[]): FieldError[] {
  return dryRun.every((one) => one === 'All') ? [] : [notSupported('dryRun', dryRun, ['All'])];
}

export const fieldManagerBytesMax = 128;

function fieldManagerErrors(manager: string): FieldError[] {
  const errors: FieldError[] = [];
  if (Buffer.byteLength(manager) > fieldManagerBytesMax) errors.push(tooLong('fieldManager', fieldManagerBytesMax));
  let at = 0;
  for (const character of manager) {
    if (!isPrintable(character)) {
      const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
      errors.push(invalid('fieldManager', manager, `invalid character U+${code} (at position ${at})`));
    }
    at += Buffer.byteLength(character);
  }
  return errors;
}

/** Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols, and the plain space. */
const isPrintable = (character: string): boolean =>
  character === ' ' || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character);

/** Without a field manager, writes are owned by the client's program: the part of the user agent before the slash. */
export function managerOf(options: WriteOptions, userAgent: string | undefined): string {
  if (options.fieldManager !== '') return options.fieldManager;
  const program = (userAgent ?? '').split('/', 1)[0]!;
  if (/^[\w .-]*$/.test(program) && program.length <= fieldManagerBytesMax) return program;
  let [name, bytes] = ['', 0];
  for (const character of program) {
    if (!isPrintable(character)) continue;
    bytes += Buffer.byteLength(character);
    if (bytes > fieldManagerBytesMax) break;
    name += character;
  }
  return name;
}
