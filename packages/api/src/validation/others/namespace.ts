/** Namespace, with its status and `finalize`. */

import type { KubeObject } from '../../object.ts';
import { index, invalid } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { qualifiedNameErrors } from '../shared/checks.ts';
import { structOf, textOf, textsOf } from '../shared/read.ts';

const standardFinalizers = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

const finalizers = (object: KubeObject): readonly string[] => textsOf(structOf(object, 'spec'), 'finalizers');
const path = 'spec.finalizers';

function finalizerErrors(at: string, name: string): FieldError[] {
  const errors = qualifiedNameErrors(at, name);
  if (name.includes('/') || standardFinalizers.has(name)) return errors;
  return [...errors, invalid(at, name, 'name is neither a standard finalizer name nor is it fully qualified')];
}

const create = (object: KubeObject): FieldError[] => finalizers(object).flatMap((name) => finalizerErrors(path, name));

function statusErrors(object: KubeObject): FieldError[] {
  const phase = textOf(structOf(object, 'status'), 'phase');
  const isLive = object.metadata.deletionTimestamp === undefined;
  if (phase === (isLive ? 'Active' : 'Terminating')) return [];
  const rule = isLive
    ? "may only be 'Active' if `deletionTimestamp` is empty"
    : "may only be 'Terminating' if `deletionTimestamp` is not empty";
  return [invalid('status.Phase', phase, rule)];
}

export const namespace: KindValidation = {
  create,
  update(object, _old, subresource) {
    if (subresource === 'status') return statusErrors(object);
    if (subresource === 'finalize') {
      return finalizers(object).flatMap((name, at) => finalizerErrors(index(path, at), name));
    }
    return create(object);
  },
};
