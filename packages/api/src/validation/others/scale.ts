/** Scale, Binding and Eviction: objects sent to subresources. */

import { notSupported } from '../../status/field-error.ts';
import type { KubeObject } from '../../object.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { nonNegativeErrors, requiredErrors } from '../shared/checks.ts';
import { numberOf, structOf, textOf } from '../shared/read.ts';

const scaleErrors = (object: KubeObject): FieldError[] => [
  ...nonNegativeErrors('spec.replicas', numberOf(structOf(object, 'spec'), 'replicas')),
];

export const scale: KindValidation = { create: scaleErrors, update: scaleErrors };

function bindingErrors(object: KubeObject): FieldError[] {
  const target = structOf(object, 'target');
  const kind = textOf(target, 'kind');
  const isForeign = kind !== '' && kind !== 'Node';
  return [
    ...(isForeign ? [notSupported('target.kind', kind, ['Node', '<empty>'])] : []),
    ...requiredErrors('target.name', textOf(target, 'name')),
  ];
}

export const binding: KindValidation = { create: bindingErrors, update: bindingErrors };

/** The server checks that its name is that of the pod. */
export const eviction: KindValidation = { create: () => [], update: () => [] };
