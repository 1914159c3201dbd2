/**
 * Managers own fields of the version that they wrote in. To apply a change to managers of other versions, the object is converted to those:
 * synchronously for most kinds, asynchronously by a webhook for some.
 */

import { parseApiVersion } from '@hangar/api';
import type { ConvertObject, JsonObject, KubeObject } from '@hangar/api';
import type { Call } from './call.ts';
import { sliced } from './sliced.ts';

/** Interrupts a computation that needs a pending conversion. */
class Unconverted extends Error {}

/** Upper bound: two states of an object in each version of its managers. */
const roundsMax = 64;

/** Conversion for apply and update; empty for kinds with one version. */
export interface Conversion {
  readonly convert?: ConvertObject;
}

/** Runs a computation that needs conversions, in slices, and again after each pending conversion. */
export function withOtherVersions<T>(call: Call, run: (conversion: Conversion) => T): T | Promise<T> {
  return call.resource.convert ? attempt(call, run, new Map(), roundsMax) : sliced(call, () => run({}));
}

function attempt<T>(
  call: Pick<Call, 'plane' | 'resource'>,
  run: (conversion: Conversion) => T,
  known: Map<string, JsonObject>,
  roundsLeft: number,
): T | Promise<T> {
  const { plane, resource } = call;
  const awaited: Promise<void>[] = [];
  const convert: ConvertObject = (object, apiVersion) => {
    const target = plane.catalogue.find({ ...parseApiVersion(apiVersion), resource: resource.name });
    if (!target || target.kind !== resource.kind) return undefined;
    const { mergeType: type } = target;
    const key = `${apiVersion} ${JSON.stringify(object)}`;
    const done = known.get(key);
    if (done) return { type, object: done };
    const converted = resource.convert!(plane, structuredClone(object) as KubeObject, apiVersion);
    if (!(converted instanceof Promise)) return { type, object: converted };
    const kept = converted.then((value) => void known.set(key, value));
    // After the last round it is not awaited.
    kept.catch(() => {});
    awaited.push(kept);
    throw new Unconverted('a conversion is in progress');
  };
  const again = async (): Promise<T> => {
    if (roundsLeft === 0) throw new Error('the object was converted too many times');
    await Promise.all(awaited);
    return attempt(call, run, known, roundsLeft - 1);
  };
  const failed = (error: unknown): Promise<T> => {
    if (awaited.length === 0) throw error;
    return again();
  };
  const ended = (value: T): T | Promise<T> => (awaited.length === 0 ? value : again());
  try {
    const result = sliced(call, () => run({ convert }));
    return result instanceof Promise ? result.then(ended, failed) : ended(result);
  } catch (error) {
    return failed(error);
  }
}
