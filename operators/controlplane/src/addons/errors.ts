/**
 * Errors of applying addons. Each becomes the reason of the condition `AddonsApplied`.
 *
 * | code            | meaning                                                             |
 * |-----------------|---------------------------------------------------------------------|
 * | AddonNotFound   | the class names an addon that does not exist                        |
 * | InvalidSettings | a built-in addon requires nodes or an image                           |
 * | InvalidManifest | a text is not a manifest                                            |
 * | ApplyFailed     | the control plane refused an object, or the inventory; the message says which |
 */

import { CodedError, hasCode } from '@hangar/core';

export type AddonErrorCode = 'AddonNotFound' | 'InvalidSettings' | 'InvalidManifest' | 'ApplyFailed';

export class AddonError extends CodedError<AddonErrorCode> {}

/** Errors that are caused by objects inside the tenant, and persist until the tenant changes them. */
const refusals = [
  'Invalid',
  'Forbidden',
  'BadRequest',
  'NotFound',
  'MethodNotAllowed',
  'RequestEntityTooLarge',
  'InternalError',
];

/** Undefined: the error is not about addons. A control plane that refuses addons still gets its credentials renewed. */
export function asAddonError(error: unknown): AddonError | undefined {
  if (error instanceof AddonError) return error;
  const refusal = refusals.some((code) => hasCode(error, code)) ? (error as Error) : undefined;
  return refusal && new AddonError('ApplyFailed', refusal.message, { cause: refusal });
}
