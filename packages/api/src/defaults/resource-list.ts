/** Lists of resources, `{cpu: 100m, memory: 1Gi}`: rounding, and the total of a pod's containers. */

import type { JsonObject } from '../object.ts';
import { addQuantities, compareQuantities, formatQuantity, parseQuantity } from '../values/quantity.ts';
import { isAbsent, objectAt, objectsAt, put } from './access.ts';

const milli = 1_000_000n;

/** Texts of quantities that are not finer than a thousandth. */
const coarse = /^\d+(?:m|[kMGTPE]i?)?$/;

/** Rounds each quantity up to thousandths, in place: no resource is finer. */
export function roundResources(list: JsonObject): void {
  for (const name of Object.keys(list)) {
    const text = quantityText(list[name]);
    if (coarse.test(text)) continue;
    const { nanos, format } = parseQuantity(text);
    if (nanos % milli === 0n) continue;
    const size = nanos < 0n ? -nanos : nanos;
    const rounded = ((size + milli - 1n) / milli) * milli;
    put(list, name, formatQuantity({ nanos: nanos < 0n ? -rounded : rounded, format }));
  }
}

/** Clients also send numbers, and null for zero. */
export const quantityText = (value: unknown): string => (isAbsent(value) ? '0' : String(value).trim());

export type Resources = Map<string, string>;

/**
 * Returns the maximum that a pod's containers need at one time: all of them together with the sidecars, or one init container with the
 * sidecars that started before it.
 */
export function aggregateContainers(podSpec: JsonObject, which: 'requests' | 'limits'): Resources {
  const total: Resources = new Map();
  for (const container of objectsAt(podSpec, 'containers')) add(total, resourcesOf(container, which));
  const sidecars: Resources = new Map();
  const initial: Resources = new Map();
  for (const container of objectsAt(podSpec, 'initContainers')) {
    const own = resourcesOf(container, which);
    if (container['restartPolicy'] === 'Always') {
      add(total, own);
      add(sidecars, own);
      raise(initial, sidecars);
    } else {
      const together = new Map(own);
      add(together, sidecars);
      raise(initial, together);
    }
  }
  raise(total, initial);
  return total;
}

const resourcesOf = (container: JsonObject, which: string): Resources => {
  const list = objectAt(objectAt(container, 'resources'), which) ?? {};
  return new Map(Object.keys(list).map((name) => [name, quantityText(list[name])]));
};

export function add(into: Resources, more: Resources): void {
  for (const [name, text] of more) {
    const old = into.get(name);
    into.set(name, old === undefined ? text : addQuantities(old, text));
  }
}

function raise(into: Resources, more: Resources): void {
  for (const [name, text] of more) {
    const old = into.get(name);
    if (old === undefined || compareQuantities(text, old) > 0) into.set(name, text);
  }
}
