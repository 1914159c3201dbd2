/** Validates an object before it is stored, in slices: other requests are served in between. */

import { invalid, invalidObject, noValue } from '@hangar/api';
import type { FieldError, KubeObject } from '@hangar/api';
import { CelError, inSlices } from '@hangar/cel/work';
import { refusedKind } from '../resources/resource.ts';
import type { Call } from './call.ts';

/** Throws 422 for an object that has errors, and for one whose validation takes too long. `check` may be repeated. */
export async function refuseInvalid(call: Call, object: KubeObject, check: () => FieldError[]): Promise<void> {
  const refuse = (errors: readonly FieldError[]): Error =>
    invalidObject(refusedKind(call.resource), object.metadata.name ?? '', errors);
  let errors: FieldError[];
  try {
    const found = inSlices(call.plane.clock, check);
    errors = found instanceof Promise ? await found : found;
  } catch (error) {
    if (!(error instanceof CelError) || error.code !== 'Interrupted') throw error;
    throw refuse([invalid('<nil>', noValue, error.message)]);
  }
  if (errors.length > 0) throw refuse(errors);
}
