/**
 * The strategy of a resource: the processing of its objects between the decoder and the store. Built-in kinds and custom resources have the
 * same contract, so that the server has one path for both.
 *
 * The steps of a write: decode → `applyDefaults` → `prepare…` → `validate…` → store. Objects are decoded, of the resource's own version,
 * already checked against their schema (types are valid, unknown fields are removed). `prepare…` and `applyDefaults` change the object in
 * place; `old` is never changed. Nothing here does I/O or reads a clock.
 */

import type { WorkBudget } from '@hangar/cel';
import type { KubeObject } from '../object.ts';
import type { FieldError } from '../status/field-error.ts';

/** `''` is the object itself; else `status`, `scale`, `approval`, `finalize`, `resize`, `ephemeralcontainers`, … */
export type SubresourceName = string;

/** Dotted paths of maps only, such as `status` or `spec.replicas`: fields that a write of this subresource does not own. */
export type ResetFields = readonly string[];

export interface Strategy {
  /** An update of an object that does not exist creates it. */
  readonly allowsCreateOnUpdate: boolean;
  /** An update without resourceVersion overwrites; else it is refused. */
  readonly allowsUnconditionalUpdate: boolean;

  /** Sets defaults as kube-apiserver does after decoding. Idempotent. */
  applyDefaults(object: KubeObject): void;

  /**
   * Drops fields that a client may not set (`status`, …), sets fields that the server sets (`generation`, …). The server has already set
   * the metadata that every kind has (name, uid, creationTimestamp).
   */
  prepareForCreate(object: KubeObject): void;
  /** Prepares an update: restores from `old` the fields that this subresource may not change, increments `generation`. */
  prepareForUpdate(object: KubeObject, old: KubeObject, subresource: SubresourceName): void;

  /**
   * Validates everything except metadata, which the server checks for every kind. Paths begin at the object. Expressions are limited by the
   * request's budget; absent: by a separate one. May be abandoned and repeated: see `inSlices`.
   */
  validateCreate(object: KubeObject, budget?: () => WorkBudget): FieldError[];
  validateUpdate(
    object: KubeObject,
    old: KubeObject,
    subresource: SubresourceName,
    budget?: () => WorkBudget,
  ): FieldError[];

  /** Texts for `Warning` headers. */
  warningsOnCreate(object: KubeObject): readonly string[];
  warningsOnUpdate(object: KubeObject, old: KubeObject): readonly string[];

  /** Returns the reasons why the name is not allowed. `isPrefix`: it will get a generated suffix. */
  validateName(name: string, isPrefix: boolean): readonly string[];

  /** Fields that managers do not own after a write to this subresource. */
  resetFields(subresource: SubresourceName): ResetFields;
}
