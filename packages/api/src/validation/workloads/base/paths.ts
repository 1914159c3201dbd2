/** Paths in file systems: of mounts, of files in volumes. */

import { invalid } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';

export const hasBacksteps = (path: string): boolean => path.split('/').includes('..');

export function checkNoBacksteps(errors: FieldError[], path: string, value: string): void {
  if (hasBacksteps(value)) errors.push(invalid(path, value, "must not contain '..'"));
}

/** Stays below where it starts. */
export function checkDescendingPath(errors: FieldError[], path: string, value: string): void {
  if (value.startsWith('/')) errors.push(invalid(path, value, 'must be a relative path'));
  checkNoBacksteps(errors, path, value);
}

/** The same, without names that the kubelet keeps for itself: those that start with two dots. */
export function checkLocalPath(errors: FieldError[], path: string, value: string): void {
  checkDescendingPath(errors, path, value);
  if (value.startsWith('..') && !value.startsWith('../')) {
    errors.push(invalid(path, value, "must not start with '..'"));
  }
}

export const fileModeReason = 'must be a number between 0 and 0777 (octal), both inclusive';
export function checkFileMode(errors: FieldError[], path: string, mode: number | null | undefined): void {
  if (typeof mode === 'number' && (mode > 0o777 || mode < 0)) errors.push(invalid(path, mode, fileModeReason));
}
