/** Paths as rules and selectable fields name them: `.spec.replicas`, `.spec['a.b']`, held against the schema. */

import { additionalOf, isSet, propertyOf } from '../json-schema.ts';
import type { JsonSchema } from '../json-schema.ts';

export interface FieldPath {
  /** As errors show it: `spec.replicas`, `labels[a.b]`. */
  readonly text: string;
  /** The first name. */
  readonly root: string;
  /** The schema that the path leads to; undefined where any value is allowed. */
  readonly schema: JsonSchema | undefined;
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
};

/** A string when the path is wrong: why. */
export function resolveFieldPath(path: string, schema: JsonSchema, allowBrackets: boolean): FieldPath | string {
  const tokens = tokenise(path);
  let at: JsonSchema | undefined = schema;
  let text = '';
  let root = '';
  for (let i = 0; i < tokens.length; i++) {
    const opening = tokens[i]!;
    if (opening !== '.' && opening !== '[') return `expected [ or . but got: ${opening}`;
    if (opening === '[' && !allowBrackets) return 'array notation is not allowed';
    const token = tokens[++i];
    if (token === undefined) return 'unexpected end of JSON path';
    const name = opening === '.' ? token : unquote(token);
    if (typeof name !== 'string') return name.problem;
    const isNamed: boolean = isSet(at?.properties) && Object.keys(at.properties).length > 0;
    if (!isNamed && !isSet(at?.additionalProperties)) return 'does not refer to a valid field';
    const next: JsonSchema | undefined = isNamed ? propertyOf(at!, name) : additionalOf(at!);
    if (isNamed && next === undefined) return 'does not refer to a valid field';
    text = isNamed ? (text === '' ? name : `${text}.${name}`) : `${text}[${name}]`;
    root = root === '' ? name : root;
    at = next;
    if (opening === '[') {
      const closing = tokens[++i];
      if (closing === undefined) return 'unexpected end of JSON path';
      if (closing !== ']') return `expected ] but got ${closing}`;
    }
  }
  return { text, root, schema: at };
}

/** Splits into `.`, `[`, `]`, quoted texts, and the texts between. */
function tokenise(path: string): string[] {
  return path.match(/'(?:[^'\\]|\\.)*'|'[^]*$|[.[\]]|[^.[\]]+/gs) ?? [];
}

function unquote(token: string): string | { readonly problem: string } {
  if (token.length < 2 || !token.startsWith("'") || !token.endsWith("'")) {
    return { problem: `expected single quoted string but got ${token}` };
  }
  let problem: string | undefined;
  const text = token.slice(1, -1).replace(/\\(.)/gs, (whole, one: string) => {
    if (!Object.hasOwn(escapes, one)) problem = `invalid string literal: invalid escape char ${whole}`;
    return escapes[one] ?? '';
  });
  return problem === undefined ? text : { problem };
}
