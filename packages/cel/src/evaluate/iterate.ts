/** Walking over lists and maps, CEL's or JSON's, with the iteration variables in their slots. */

import { noSuchOverload } from '../errors.ts';
import { CelList } from '../values/list.ts';
import { CelMap } from '../values/map.ts';
import { isJsonObject, ownProperty } from '../values/json.ts';
import type { Frame } from './frame.ts';

type Body = (frame: Frame) => boolean;

/** Elements of a list, keys of a map. */
export function iterate(frame: Frame, range: unknown, slot: number, body: Body): void {
  const { slots } = frame;
  if (Array.isArray(range)) {
    for (let index = 0; index < range.length; index++) {
      frame.iterate();
      slots[slot] = range[index];
      if (body(frame)) return;
    }
  } else if (range instanceof CelList) {
    for (let index = 0; index < range.size; index++) {
      frame.iterate();
      slots[slot] = range.at(index);
      if (body(frame)) return;
    }
  } else {
    const keys = range instanceof CelMap ? range.keys() : isJsonObject(range) ? Object.keys(range) : noSuchOverload();
    for (const key of keys) {
      frame.iterate();
      slots[slot] = key;
      if (body(frame)) return;
    }
  }
}

/** Index and element of a list, key and value of a map. */
export function iterateTwo(frame: Frame, range: unknown, slot: number, slot2: number, body: Body): void {
  const { slots } = frame;
  const list = Array.isArray(range) ? range.length : range instanceof CelList ? range.size : undefined;
  if (list !== undefined) {
    for (let index = 0; index < list; index++) {
      frame.iterate();
      slots[slot] = index;
      slots[slot2] = Array.isArray(range) ? range[index] : (range as CelList).at(index);
      if (body(frame)) return;
    }
    return;
  }
  const keys = range instanceof CelMap ? range.keys() : isJsonObject(range) ? Object.keys(range) : noSuchOverload();
  for (const key of keys) {
    frame.iterate();
    slots[slot] = key;
    slots[slot2] =
      range instanceof CelMap ? range.get(key) : ownProperty(range as Record<string, unknown>, key as string);
    if (body(frame)) return;
  }
}
