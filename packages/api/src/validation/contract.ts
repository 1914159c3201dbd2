/**
 * Contract of the validation of one kind. Built-in kinds register theirs by `apiVersion/Kind`, such as `apps/v1/Deployment` and `v1/Pod`.
 */

import type { KubeObject } from '../object.ts';
import type { FieldError } from '../status/field-error.ts';
import type { SubresourceName } from '../strategy/contract.ts';

export interface KindValidation {
  /** Validates everything except metadata, after defaulting and `prepareForCreate`. */
  create(object: KubeObject): FieldError[];
  /** Called after `prepareForUpdate`. Validates the change and the resulting object. */
  update(object: KubeObject, old: KubeObject, subresource: SubresourceName): FieldError[];
  /** Texts for `Warning` headers; `old` is absent on creation. */
  warnings?(object: KubeObject, old: KubeObject | undefined): readonly string[];
}

export type KindValidations = Readonly<Record<string, KindValidation>>;
