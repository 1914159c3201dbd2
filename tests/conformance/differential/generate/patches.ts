/** Bodies of patches. */

import { isObject } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import { mutate, part } from './mutate.ts';

export function jsonPatch(random: Random, body: JsonObject): unknown {
  const object = { metadata: { labels: { a: 'b' }, annotations: { 'x/y': 'z' } }, ...body };
  const pointers = pointersOf(object, '', 0);
  const anywhere = (): string =>
    chance(random, 0.85)
      ? pick(random, pointers)
      : pick(random, ['', '/', '/none/at/all', '/metadata/labels/-', 'x', '/spec/~2']);
  const value = (): unknown => pick(random, ['text', 7, true, null, { a: 'b' }, ['x'], valueAt(object, anywhere())]);
  return Array.from({ length: 1 + random.below(3) }, () => {
    const op = pick(random, ['add', 'add', 'replace', 'remove', 'test', 'move', 'copy', 'odd']);
    const path = chance(random, 0.1) ? `${anywhere()}/-` : anywhere();
    switch (op) {
      case 'remove':
        return { op, path };
      case 'move':
      case 'copy':
        return { op, from: anywhere(), path };
      default:
        return { op, path, value: chance(random, 0.5) ? valueAt(object, path) : value() };
    }
  });
}

function pointersOf(value: unknown, at: string, depth: number): string[] {
  if (typeof value !== 'object' || value === null || depth > 6) return [at];
  const inner = Object.entries(value).flatMap(([key, one]) =>
    pointersOf(one, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, depth + 1),
  );
  return at === '' ? inner : [at, ...inner];
}

function valueAt(value: unknown, pointer: string): unknown {
  let at = value;
  for (const key of pointer.split('/').slice(1)) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = (at as JsonObject)[key.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return at ?? 'value';
}

export function mergePatch(random: Random, body: JsonObject): unknown {
  const change = part(random, {
    metadata: { labels: { [pick(random, ['a', 'b', 'app'])]: pick(random, ['c', null]) } },
    ...body,
  });
  return chance(random, 0.4) ? mutate(random, change) : change;
}

export function strategicPatch(random: Random, body: JsonObject): unknown {
  const change = mergePatch(random, body);
  return isObject(change) && chance(random, 0.5) ? withDirective(random, change) : change;
}

/** A directive of strategic merge patches, somewhere that may make sense. */
function withDirective(random: Random, value: JsonObject): JsonObject {
  const inner = Object.keys(value).filter((key) => typeof value[key] === 'object' && value[key] !== null);
  if (inner.length === 0 || chance(random, 0.2)) {
    return {
      ...value,
      ...(pick(random, [{ $patch: 'replace' }, { $patch: 'delete' }, { $patch: 'odd' }]) as JsonObject),
    };
  }
  const key = pick(random, inner);
  const one = value[key];
  if (isObject(one)) {
    if (chance(random, 0.2))
      return { ...value, [key]: { ...one, $retainKeys: Object.keys(one).slice(0, 1 + random.below(2)) } };
    return { ...value, [key]: withDirective(random, one) };
  }
  return { ...value, ...listDirective(random, key, one as readonly unknown[]) };
}

function listDirective(random: Random, key: string, list: readonly unknown[]): JsonObject {
  const [first] = list;
  if (!isObject(first)) {
    // kube-apiserver visits the fields of a patch in random order, so an item must not be both added and deleted.
    const others = list.filter((one) => one !== first);
    return pick(random, [
      { [key]: others, [`$deleteFromPrimitiveList/${key}`]: list.slice(0, 1) },
      { [`$setElementOrder/${key}`]: list.toReversed() },
    ]);
  }
  switch (random.below(4)) {
    case 0:
      return { [key]: [{ ...first, $patch: 'delete' }] };
    case 1:
      return { [key]: [...list, { $patch: 'replace' }] };
    case 2:
      return {
        [key]: list,
        [`$setElementOrder/${key}`]: list.map((one) => (isObject(one) ? part(random, one) : one)).reverse(),
      };
    default:
      return { [key]: [{ ...first, $patch: 'odd' }] };
  }
}
