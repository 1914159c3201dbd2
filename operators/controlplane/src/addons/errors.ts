/**
 * Why addons are not applied. Each becomes the reason of the condition `AddonsApplied`.
 *
 * | code            | meaning                                                             |
 * |-----------------|---------------------------------------------------------------------|
 * | AddonNotFound   | the class names one that nobody has made                            |
 * | InvalidManifest | a text that is no manifest                                          |
 * | ApplyFailed     | the control plane refused an object, or the inventory; the message says which |
 */

import { CodedError, hasCode } from '@hangar/core';

export type AddonErrorCode = 'AddonNotFound' | 'InvalidManifest' | 'ApplyFailed';

export class AddonError extends CodedError<AddonErrorCode> {}

/** What is answered because of what somebody did inside: it stays so until they undo it. */
const refusals = [
  'Invalid',
  'Forbidden',
  'BadRequest',
  'NotFound',
  'MethodNotAllowed',
  'RequestEntityTooLarge',
  'InternalError',
];

/** Undefined: it is nothing about addons. A control plane that refuses them is no reason to let its credentials run out. */
export function asAddonError(error: unknown): AddonError | undefined {
  if (error instanceof AddonError) return error;
  const refusal = refusals.some((code) => hasCode(error, code)) ? (error as Error) : undefined;
  return refusal && new AddonError('ApplyFailed', refusal.message, { cause: refusal });
}
