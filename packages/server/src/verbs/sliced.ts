/** Computations over the object of a request, in slices: other requests are served in between. */

import { invalidObject, tooLarge } from '@hangar/api';
import type { FieldError, KubeObject } from '@hangar/api';
import { CelError, inSlices } from '@hangar/cel/work';
import { refusedKind } from '../resources/resource.ts';
import type { Call } from './call.ts';

/** Returns a promise if `compute` takes more than one slice. Throws 413 when it takes too long. `compute` may be repeated. */
export function sliced<T>({ plane }: Pick<Call, 'plane'>, compute: () => T): T | Promise<T> {
  try {
    const result = inSlices(plane.clock, compute);
    return result instanceof Promise ? result.catch(refuse) : result;
  } catch (error) {
    return refuse(error);
  }
}

function refuse(error: unknown): never {
  throw error instanceof CelError && error.code === 'Interrupted' ? tooLarge(error.message) : error;
}

/** Throws 422 for an object that has errors, and 413 for one whose validation takes too long. */
export async function refuseInvalid(call: Call, object: KubeObject, check: () => FieldError[]): Promise<void> {
  const found = sliced(call, check);
  const errors = found instanceof Promise ? await found : found;
  if (errors.length > 0) throw invalidObject(refusedKind(call.resource), object.metadata.name ?? '', errors);
}
