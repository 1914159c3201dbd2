/** Helpers for reconcilers: conditions, finalizers, owner references, create-or-update. */

export { createOrPatch, createOrUpdate } from './create-or-update.ts';
export type { Mutate, Outcome } from './create-or-update.ts';
export { findCondition, hasConditionStatus, isConditionFalse, isConditionTrue } from './conditions.ts';
export { removeCondition, setCondition, setConditions } from './conditions.ts';
export type { Condition, ConditionStatus, NewCondition } from './conditions.ts';
export { addFinalizer, dropFinalizer, ensureFinalizer, finalize, hasFinalizer } from './finalizers.ts';
export { isBeingDeleted, removeFinalizer } from './finalizers.ts';
export type { FinalizeOptions, FinalizeOutcome } from './finalizers.ts';
export { controllerOf, controllerReference, isControlledBy, isOwnedBy, ownerReference } from './owner-references.ts';
export { removeOwnerReference, setControllerReference, setOwnerReference } from './owner-references.ts';
export type { Owned, OwnerOptions } from './owner-references.ts';
export { retryOnConflict } from './retry-on-conflict.ts';
export type { RetryOptions } from './retry-on-conflict.ts';
export { changedFields, writeStatus } from './write-status.ts';
export type { StatusWrite } from './write-status.ts';
