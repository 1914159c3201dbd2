/** Target references of autoscalers. */

import type { JsonObject } from '../../object.ts';
import { child, invalid } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { pathSegmentErrors } from '../shared/checks.ts';
import { textOf } from '../shared/read.ts';

/** Strictness of the check of a reference's `apiVersion`. */
export interface ReferenceRules {
  readonly anyVersion: boolean;
  readonly coreGroup: boolean;
}

export function referenceErrors(path: string, reference: JsonObject, rules: ReferenceRules): FieldError[] {
  const version = textOf(reference, 'apiVersion');
  const problem = rules.anyVersion ? undefined : versionProblem(version, rules.coreGroup);
  return [
    ...pathSegmentErrors(child(path, 'kind'), textOf(reference, 'kind')),
    ...pathSegmentErrors(child(path, 'name'), textOf(reference, 'name')),
    ...(problem === undefined ? [] : [invalid(child(path, 'apiVersion'), version, problem)]),
  ];
}

export function versionProblem(version: string, coreGroup: boolean): string | undefined {
  const parts = version.split('/');
  if (parts.length > 2) return `unexpected GroupVersion string: ${version}`;
  const hasGroup = parts.length === 2 && parts[0] !== '';
  return hasGroup || coreGroup ? undefined : 'apiVersion must specify API group';
}
