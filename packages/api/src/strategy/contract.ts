/**
 * What one resource does with its objects between the decoder and the store: the same contract for built-in kinds and
 * for custom resources, so that the server has one path for both.
 *
 * A write goes: decode → `applyDefaults` → `prepare…` → `validate…` → store. Objects are decoded, of the
 * resource's own version, already checked against their schema (types are right, unknown fields are gone). `prepare…` and
 * `applyDefaults` change the object in place; `old` is never changed. Nothing here does I/O or reads a clock.
 */

import type { WorkBudget } from '@hangar/cel';
import type { KubeObject } from '../object.ts';
import type { FieldError } from '../status/field-error.ts';

/** `''` is the object itself; else `status`, `scale`, `approval`, `finalize`, `resize`, `ephemeralcontainers`, … */
export type SubresourceName = string;

/** Dotted paths of maps only, such as `status` or `spec.replicas`: what a write of this subresource gives up. */
export type ResetFields = readonly string[];

export interface Strategy {
  /** An update of an object that is not there creates it. */
  readonly allowsCreateOnUpdate: boolean;
  /** An update without resourceVersion overwrites; else it is refused. */
  readonly allowsUnconditionalUpdate: boolean;

  /** As kube-apiserver does after decoding. Idempotent. */
  applyDefaults(object: KubeObject): void;

  /**
   * Drops what a client may not set (`status`, …), sets what the server sets (`generation`, …). Metadata that every
   * kind has (name, uid, creationTimestamp) is the server's own work and is done already.
   */
  prepareForCreate(object: KubeObject): void;
  /** The same for an update: restores from `old` what this subresource may not change, counts `generation` up. */
  prepareForUpdate(object: KubeObject, old: KubeObject, subresource: SubresourceName): void;

  /**
   * Everything but metadata, which the server checks for every kind. Paths begin at the object. Expressions are limited
   * by the request's budget; absent: by one of their own. May be abandoned and repeated: see `inSlices`.
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

  /** Is this name allowed? The reasons why not. `isPrefix`: it will get a generated suffix. */
  validateName(name: string, isPrefix: boolean): readonly string[];

  /** Fields that managers do not own after a write to this subresource. */
  resetFields(subresource: SubresourceName): ResetFields;
}
