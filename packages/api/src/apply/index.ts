/**
 * Server-side apply and `metadata.managedFields`: who owns which field of an object, and what follows from it.
 *
 * Where it has its place in a write, with the strategy's steps in between; `live` is always what the store has now, in
 * the version of the request, so all of it is done again when the store says that the object has changed meanwhile:
 *
 *   create         decode, default             → updateManagedFields (no live) → admission → prepareForCreate, validate → store
 *   update, patch  decode or patch, default    → updateManagedFields → admission → prepareForUpdate, validate → keepManagedFieldsTimes → store
 *   apply          applyObject → decode, default                     → admission → as create or update from here
 *
 * Ownership is counted before admission: what that sets belongs to nobody, and managed fields in which it leaves a
 * `managedFieldsProblem` are put back. Built-in objects are in Go's form (`normalise`) throughout.
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
export { keepManagedFieldsTimes } from './timestamps.ts';
export { updateManagedFields } from './update.ts';
export type { UpdateOptions } from './update.ts';
