/**
 * Server-side apply and `metadata.managedFields`: which manager owns which field of an object.
 *
 * Order of the steps of a write, with those of the strategy; `live` is always the stored object in the version of the request, so all steps
 * are repeated when the store reports a conflict:
 *
 *   create         decode, default             → updateManagedFields (no live) → admission → prepareForCreate, validate → store
 *   update, patch  decode or patch, default    → updateManagedFields → admission → prepareForUpdate, validate → keepManagedFieldsTimes → store
 *   apply          applyObject → decode, default                     → admission → as create or update from here
 *
 * Ownership is computed before admission: fields set by admission have no owner, and managed fields in which it leaves a
 * `managedFieldsProblem` are restored. Built-in objects are in Go's form (`normalise`) throughout.
 */

export { applyObject } from './apply.ts';
export type { Applied, ApplyOptions } from './apply.ts';
export { mergeTypeOfBuiltin } from './builtin-type.ts';
export { mergeConfiguration } from './configuration.ts';
export type { MergedConfiguration } from './configuration.ts';
export type { FieldSet } from './field-set.ts';
export { managedFieldsProblem } from './managers.ts';
export { deducedMergeType } from './merge-type.ts';
export type { MergeType } from './merge-type.ts';
export type { ConvertObject } from './ownership.ts';
export { managedFieldsAfterScale, managedFieldsOfScale } from './scale.ts';
export type { ReplicasPaths, ScaleWritten } from './scale.ts';
export { mergeTypeOfSchema } from './schema-type.ts';
export type { SchemaTypeOptions } from './schema-type.ts';
export { sharedManagedFieldsJson } from './shared-json.ts';
export { keepManagedFieldsTimes } from './timestamps.ts';
export { updateManagedFields } from './update.ts';
export type { UpdateOptions } from './update.ts';
