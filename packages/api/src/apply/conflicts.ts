/** Conflicts: fields that other managers own and a configuration would change, in kube-apiserver's wording. */

import { quote } from '../status/field-error.ts';
import { applyConflict } from '../status/status.ts';
import type { StatusCause, StatusError } from '../status/status.ts';
import { shownPaths } from './field-set.ts';
import type { Manager } from './managers.ts';
import { identifierOf } from './managers.ts';
import type { Touched } from './ownership.ts';
import { compareUtf8 } from './path-element.ts';

export function conflictError(touched: readonly Touched[]): StatusError {
  const sorted = touched.toSorted((a, b) => compareUtf8(identifierOf(a.manager), identifierOf(b.manager)));
  const conflicts = sorted.map(({ manager, fields }) => ({ who: describe(manager), paths: [...shownPaths(fields)] }));
  const causes: StatusCause[] = conflicts.flatMap(({ who, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })),
  );
  return applyConflict(causes, `Apply failed with ${messageOf(conflicts, causes.length)}`);
}

function messageOf(conflicts: readonly { who: string; paths: readonly string[] }[], count: number): string {
  if (count === 1) return `1 conflict: conflict with ${conflicts[0]!.who}: ${conflicts[0]!.paths[0]}`;
  const lines = conflicts.flatMap(({ who, paths }) => [`conflicts with ${who}:`, ...paths.map((path) => `- ${path}`)]);
  return `${count} conflicts: ${lines.join('\n')}`;
}

function describe({ name, operation, apiVersion, subresource }: Manager): string {
  const who = subresource === '' ? quote(name) : `${quote(name)} with subresource ${quote(subresource)}`;
  return operation === 'Update' ? `${who} using ${apiVersion}` : who;
}
