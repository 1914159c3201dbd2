/** Systematic changes to an object: each leaf and branch removed, emptied, repeated, out of range, malformed. */

import { isObject } from '../../../object.ts';
import type { JsonObject } from '../../../object.ts';

export interface Mutation {
  /** `spec.containers.0.name = ""`. */
  readonly name: string;
  readonly object: JsonObject;
}

const texts = ['', 'Bad_Value!', 'x'.repeat(300), '..', '-a'];
const numbers = [-1, 0, 1, 70_000, 2 ** 31 - 1];

/** Not structuredClone, which keeps parts that are shared shared. */
const copyOf = (object: JsonObject): JsonObject => JSON.parse(JSON.stringify(object)) as JsonObject;

type Path = readonly (string | number)[];

/** Values keep their types: undecodable objects are not tested here. */
export function* mutationsOf(object: JsonObject, under: readonly string[]): Generator<Mutation> {
  for (const [path, value] of walk(object, [])) {
    if (path.length === 0 || !under.includes(String(path[0]))) continue;
    yield change(object, path, undefined);
    for (const other of replacements(value)) yield change(object, path, other);
  }
}

function* walk(value: unknown, path: Path): Generator<readonly [Path, unknown]> {
  yield [path, value];
  if (Array.isArray(value)) for (const [i, item] of value.entries()) yield* walk(item, [...path, i]);
  else if (isObject(value)) for (const key of Object.keys(value)) yield* walk(value[key], [...path, key]);
}

function replacements(value: unknown): unknown[] {
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number') return numbers.filter((one) => one !== value);
  if (typeof value === 'string') return isQuantity(value) ? ['-1', '0', '0.0005', '3'] : texts;
  if (Array.isArray(value)) return [[], ...(value.length > 0 ? [[...value, value[0]]] : [])];
  return [{}];
}

const isQuantity = (text: string): boolean => /^\d+(?:m|[KMG]i?)?$/.test(text);

export function change(object: JsonObject, path: Path, value: unknown): Mutation {
  const copy = copyOf(object);
  let holder: unknown = copy;
  for (const step of path.slice(0, -1)) holder = (holder as Record<string | number, unknown>)[step];
  const last = path.at(-1)!;
  if (value !== undefined) (holder as Record<string | number, unknown>)[last] = structuredClone(value);
  else if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else delete (holder as JsonObject)[last as string];
  const shown = value === undefined ? 'deleted' : `= ${JSON.stringify(value).slice(0, 60)}`;
  return { name: `${path.join('.')} ${shown}`, object: copy };
}

/** Sets a field that the base does not have, such as `['spec', 'hostNetwork']`. */
export const withField = (object: JsonObject, path: string, value: unknown): Mutation => {
  const steps = path.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  const copy = copyOf(object);
  let holder = copy as Record<string | number, unknown>;
  for (const [i, step] of steps.slice(0, -1).entries()) {
    holder[step] ??= typeof steps[i + 1] === 'number' ? [] : {};
    holder = holder[step] as Record<string | number, unknown>;
  }
  holder[steps.at(-1)!] = value;
  return { name: `${path} = ${JSON.stringify(value).slice(0, 60)}`, object: copy };
};
