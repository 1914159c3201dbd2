/** The form of managedFields entries, and of the names of field managers, which requests also carry. */

import type { ManagedFieldsEntry } from '../object.ts';
import { child, index, invalid, tooLong } from '../status/field-error.ts';
import type { FieldError } from '../status/field-error.ts';
import { byteLength } from '../validation/formats.ts';

const managerBytesMax = 128;
const subresourceBytesMax = 256;

export function managedFieldsErrors(entries: readonly ManagedFieldsEntry[], path: string): FieldError[] {
  return entries.flatMap((entry, place) => entryErrors(entry, index(path, place)));
}

function entryErrors(entry: ManagedFieldsEntry, path: string): FieldError[] {
  const { operation = '', fieldsType = '', manager = '', subresource = '' } = entry;
  const errors: FieldError[] = [];
  if (operation !== 'Apply' && operation !== 'Update') {
    errors.push(invalid(child(path, 'operation'), operation, 'must be `Apply` or `Update`'));
  }
  if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
    errors.push(invalid(child(path, 'fieldsType'), fieldsType, 'must be `FieldsV1`'));
  }
  errors.push(...fieldManagerErrors(manager, child(path, 'manager')));
  if (byteLength(subresource) > subresourceBytesMax) {
    errors.push(tooLong(child(path, 'subresource'), subresourceBytesMax));
  }
  return errors;
}

const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u;

/** Also for the `fieldManager` parameter. */
export function fieldManagerErrors(manager: string, path: string): FieldError[] {
  const errors: FieldError[] = byteLength(manager) > managerBytesMax ? [tooLong(path, managerBytesMax)] : [];
  if (printable.test(manager)) return errors;
  let position = 0;
  for (const character of manager) {
    // Each error shows the whole name: one far too long is not worth more of them.
    if (position > managerBytesMax) break;
    if (!printable.test(character)) {
      const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
      errors.push(invalid(path, manager, `invalid character U+${code} (at position ${position})`));
    }
    position += byteLength(character);
  }
  return errors;
}
