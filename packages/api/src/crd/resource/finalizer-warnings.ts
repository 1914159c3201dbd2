/** Warns about finalizers of custom resources without a domain. */

import { quote } from '../../status/field-error.ts';
import { qualifiedNameReasons } from '../../validation/formats.ts';

const standard: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

export function finalizerWarnings(finalizers: readonly string[], path: string): string[] {
  return [...new Set(finalizers)].sort().flatMap((finalizer) => {
    const at = `${path}: ${quote(finalizer)}`;
    const warnings = qualifiedNameReasons(finalizer).map((reason) => `${at}: ${reason}`);
    if (finalizer.includes('/') || standard.has(finalizer)) return warnings;
    const better = finalizer.includes('.')
      ? 'prefer a domain-qualified finalizer name including a path (/)'
      : 'prefer a domain-qualified finalizer name';
    return [...warnings, `${at}: ${better} to avoid accidental conflicts with other finalizer writers`];
  });
}
