/** From one valid object many that may not be: each field in turn is dropped, or given a value that is wrong for most. */

import { isObject } from '../../../object.ts';
import type { JsonObject } from '../../../object.ts';

export interface Mutation {
  /** Such as `spec.ports[0].port = -1`. */
  readonly what: string;
  readonly object: JsonObject;
}

const dropped = Symbol('dropped');
const long = 'a'.repeat(300);
const texts = ['', 'Bad_Value!', 'a.b/c/d', long, '10.0.0.256', '-x'];
const numbers = [-1, 0, 70_000];

/** `roots`: the fields of the object that are mutated, at all depths. */
export function mutations(object: JsonObject, roots: readonly string[] = topLevel(object)): Mutation[] {
  return roots.flatMap((root) => {
    const found: Mutation[] = [];
    const rebuild = (value: unknown): JsonObject => withField(object, root, value);
    visit(object[root], root, (what, value) => found.push({ what, object: rebuild(value) }));
    return found;
  });
}

const topLevel = (object: JsonObject): string[] =>
  Object.keys(object).filter((name) => !['apiVersion', 'kind', 'metadata', 'status'].includes(name));

type Report = (what: string, value: unknown) => void;

function visit(value: unknown, path: string, report: Report): void {
  for (const [text, other] of alternatives(value)) report(`${path} ${text}`, other);
  if (Array.isArray(value)) {
    value.forEach((item, at) =>
      visit(item, `${path}[${at}]`, (what, changed) =>
        report(what, changed === dropped ? value.toSpliced(at, 1) : value.with(at, changed)),
      ),
    );
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      visit(value[name], `${path}.${name}`, (what, changed) => report(what, withField(value, name, changed)));
    }
  }
}

function alternatives(value: unknown): [text: string, value: unknown][] {
  const drop: [string, unknown] = ['dropped', dropped];
  const set = (other: unknown): [string, unknown] => [`= ${JSON.stringify(other).slice(0, 30)}`, other];
  if (typeof value === 'string') return [drop, ...texts.map(set)];
  if (typeof value === 'number') return [drop, ...numbers.map(set)];
  if (typeof value === 'boolean') return [drop, set(!value)];
  if (Array.isArray(value)) {
    return [drop, set([]), ...(value.length > 0 ? [['repeated', [...value, value[0]]] as [string, unknown]] : [])];
  }
  if (isObject(value)) return [drop, set({})];
  return [];
}

function withField(object: JsonObject, name: string, value: unknown): JsonObject {
  const { [name]: _old, ...rest } = object;
  return value === dropped ? rest : { ...rest, [name]: value };
}
