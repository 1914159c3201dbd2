/** CEL: expressions whose work grows faster than their text, in definitions and in policies. */

import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import { configMap, configMaps, definitions, list, post, record, size, text } from './input.ts';
import type { Generator, StallInput } from './input.ts';

const literalOf = (items: readonly string[]): string => `[${items.join(',')}]`;

/** An expression of a list of strings. `map` is an expression of a map of strings. */
function strings(random: Random, map: string, depth: number): string {
  switch (random.below(depth > 0 ? 7 : 3)) {
    case 0:
      return `${map}.map(k, k)`;
    case 1:
      return literalOf(list(size(random, 200), (at) => `'s${at % 7}'`));
    case 2:
      return `'${'a,'.repeat(size(random, 500))}'.split(',')`;
    case 3:
      return `${strings(random, map, depth - 1)}.map(x, x + x)`;
    case 4:
      return `(${strings(random, map, depth - 1)} + ${strings(random, map, depth - 1)})`;
    case 5:
      return `${strings(random, map, depth - 1)}.filter(x, x != 'b')`;
    default:
      return `${string(random, map, depth - 1)}.split('${pick(random, ['', ',', 'a'])}')`;
  }
}

/** An expression of a string. */
function string(random: Random, map: string, depth: number): string {
  switch (random.below(depth > 0 ? 7 : 2)) {
    case 0:
      return `'${pick(random, ['a', 'ab', 'é', '1'])}'`;
    case 1:
      return `'${'ab'.repeat(size(random, 500))}'`;
    case 2:
      return `${strings(random, map, depth - 1)}.join('${'-'.repeat(size(random, 20))}')`;
    case 3:
      return `${string(random, map, depth - 1)}.replace('${pick(random, ['', 'a'])}', '${'aa'.repeat(size(random, 50))}')`;
    case 4:
      return `(${string(random, map, depth - 1)} + ${string(random, map, depth - 1)})`;
    case 5:
      return `${string(random, map, depth - 1)}.${pick(random, ['lowerAscii', 'upperAscii', 'trim'])}()`;
    default:
      return `${strings(random, map, depth - 1)}.map(x, x).join('a')`;
  }
}

const patterns = ['^(a+)+$', '(a|a)*b', '.*.*.*=.*', '[a-z]+[a-z]+[a-z]+[0-9]', 'a{1,500}', '(x+x+)+y', '.'];

/** An expression of a boolean. `map` is an expression of a map of strings, which may be absent. */
export function expression(random: Random, map: string, depth = 3): string {
  const some = (): string => strings(random, map, depth - 1);
  const one = (): string => string(random, map, depth - 1);
  switch (random.below(depth > 0 ? 14 : 10)) {
    case 0:
      return `${some()}.${pick(random, ['max', 'min'])}() != 'x'`;
    case 1:
      return `${some()}.isSorted()`;
    case 2:
      return `${some()}.${pick(random, ['indexOf', 'lastIndexOf'])}(${one()}) < 0`;
    case 3:
      return `${one()}.${pick(random, ['indexOf', 'lastIndexOf'])}(${one()}) < 0`;
    case 4:
      return `${one()}.${pick(random, ['contains', 'startsWith', 'endsWith'])}(${one()})`;
    case 5:
      return `${one()}.matches('${pick(random, patterns)}')`;
    case 6:
      return `size(${one()}.${pick(random, ['findAll', 'find'])}('${pick(random, patterns)}')) >= 0`;
    case 7:
      return `${some()} == ${some()}`;
    case 8:
      return `sets.${pick(random, ['contains', 'equivalent', 'intersects'])}(${some()}, ${some()})`;
    case 9:
      return pick(random, [
        `isURL(${one()})`,
        `isQuantity(${one()})`,
        `isIP(${one()})`,
        `isCIDR(${one()})`,
        `!format.dns1123Label().validate(${one()}).hasValue()`,
      ]);
    case 10:
    case 11: {
      const variable = `v${depth}`;
      const inner = expression(random, map, depth - 1);
      const macro = pick(random, ['all', 'exists', 'exists_one']);
      return `${some()}.${macro}(${variable}, ${variable} != 'q' && ${inner})`;
    }
    case 12:
      return `(${expression(random, map, depth - 1)} ${pick(random, ['&&', '||'])} ${expression(random, map, depth - 1)})`;
    default:
      return `${some()}.map(x, size(x)).sum() >= 0 && ${some()}.slice(0, 1).isSorted()`;
  }
}

const admission = '/apis/admissionregistration.k8s.io/v1';

/** Calls on an existing list or string, so that building it adds no cost. */
const calls = [
  "l.indexOf('zz') < 0",
  'l.lastIndexOf(x) < 0',
  "l.max() != 'x'",
  "l.min() != 'x'",
  'l.isSorted() || true',
  "l.join('-') != ''",
  'l == l.slice(0, size(l))',
  'sets.contains(l, [x])',
  'x in l',
  "t.indexOf('zz') < 0",
  "t.contains('zz') || true",
  "t.replace('a', 'bb') != ''",
  "t.matches('^(a+)+$') || true",
  "t.split('a').size() > 0",
  "t.lowerAscii() != ''",
  "t.substring(0, 1) != ''",
  "(t + x) != ''",
  '(l + l).size() > 0',
];

/** A call for each item of a list, and for each pair of items. `l` is a variable of a list, `t` one of a string. */
function repeatedCall(random: Random): string {
  const call = pick(random, calls).replace(/\b[lt]\b(?=[ .),+]|$)/g, 'variables.$&');
  const levels = 1 + random.below(3);
  let found = call;
  for (let at = 0; at < levels; at++) {
    found = `variables.l.${pick(random, ['all', 'exists', 'map', 'filter'])}(${at === 0 ? 'x' : `x${at}`}, ${found})`;
    if (/^variables\.l\.(map|filter)/.test(found)) found = `${found}.size() >= 0`;
  }
  return found;
}

/** A policy with many expressions, its binding, and an object that it evaluates. */
export const policies: Generator = (random) => {
  if (chance(random, 0.5)) {
    const [length, count] = [size(random, 2_000), size(random, 20)];
    return policy(random, {
      variables: [
        { name: 'l', expression: `'${'a,'.repeat(length)}'.split(',')` },
        { name: 't', expression: `'${'ab'.repeat(length)}'` },
      ],
      validations: list(count, () => ({ expression: `(${repeatedCall(random)}) || true` })),
    });
  }
  const count = size(random, 20);
  const doublings = chance(random, 0.4) ? size(random, 20) : 0;
  const validations = list(count, () => ({
    // A failed validation would reject the request before the others are evaluated.
    expression: `(${expression(random, 'object.data', 1 + random.below(4))}) || true`,
    ...(chance(random, 0.2) && { messageExpression: string(random, 'object.data', 3) }),
  }));
  const variables = list(doublings, (at) => ({
    name: `d${at}`,
    expression: at === 0 ? string(random, 'object.data', 3) : `variables.d${at - 1} + variables.d${at - 1}`,
  }));
  const last = doublings === 0 ? [] : [{ expression: `size(variables.d${doublings - 1}) > 0` }];
  return policy(random, { variables, validations: [...validations, ...last] });
};

interface Expressions {
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly { readonly expression: string; readonly messageExpression?: string }[];
}

/** A policy, its binding, and two objects that it evaluates. */
function policy(random: Random, { variables, validations }: Expressions): StallInput {
  const name = `p${random.below(1e9)}`;
  const keys = size(random, 200);
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }];
  const meta = (kind: string): object => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `ValidatingAdmissionPolicy${kind}`,
    metadata: { name },
  });
  const failurePolicy = pick(random, ['Fail', 'Ignore']);
  const data = record(keys, () => text(random, 50));
  return {
    name: `a policy of ${validations.length} expressions and ${variables.length} variables, an object of ${keys} keys: ${validations[0]!.expression}`,
    steps: [
      post(`${admission}/validatingadmissionpolicies`, {
        ...meta(''),
        spec: { failurePolicy, matchConstraints: { resourceRules }, variables, validations },
      }),
      post(`${admission}/validatingadmissionpolicybindings`, {
        ...meta('Binding'),
        spec: { policyName: name, validationActions: ['Deny'] },
      }),
      post(configMaps, configMap(`${name}-a`, { data })),
      post(configMaps, configMap(`${name}-b`, { data })),
      { method: 'DELETE', target: `${admission}/validatingadmissionpolicybindings/${name}` },
      { method: 'DELETE', target: `${admission}/validatingadmissionpolicies/${name}` },
    ],
  };
}

/** A definition with expensive rules, and an object for them. */
export const rules: Generator = (random) => {
  const id = `r${random.below(1e9)}`;
  const [listMax, textMax] = [size(random, 500), size(random, 1_000)];
  const count = size(random, 10);
  const found = list(count, () => expression(random, 'self.map', 1 + random.below(3)));
  const schema = {
    type: 'object',
    properties: {
      map: {
        type: 'object',
        maxProperties: listMax,
        additionalProperties: { type: 'string', maxLength: textMax },
      },
      list: {
        type: 'array',
        maxItems: listMax,
        items: {
          type: 'string',
          maxLength: textMax,
          'x-kubernetes-validations': [
            { rule: `self.${pick(random, ["matches('^(a+)+$')", "indexOf('b') < 0", 'size() >= 0'])}` },
          ],
        },
      },
    },
    'x-kubernetes-validations': found.map((rule) => ({ rule: `!has(self.map) || (${rule}) || true` })),
  };
  const items = size(random, Math.min(listMax, 1_000));
  const object = {
    apiVersion: `${id}.example.com/v1`,
    kind: 'Rule',
    metadata: { name: 'a' },
    spec: {
      map: record(Math.min(items, 300), () => text(random, Math.min(textMax, 100))),
      list: list(items, () => text(random, Math.min(textMax, 30))),
    },
  };
  const objects = `/apis/${id}.example.com/v1/rules`;
  return {
    name: `a definition with ${count} rules and an object of ${items} items: ${found[0]}`,
    steps: [
      post(definitions, definition(id, 'rules', schema)),
      { method: 'GET', target: objects, untilServed: true },
      post(objects, object),
      post(`${objects}?dryRun=All`, { ...object, metadata: { name: 'b' } }),
      { method: 'DELETE', target: `${definitions}/rules.${id}.example.com` },
    ],
  };
};

/** A definition of one version whose `spec` has this schema. Its group is `ID.example.com`. */
export const definition = (id: string, plural: string, spec: object, version: object = {}): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${id}.example.com` },
  spec: {
    group: `${id}.example.com`,
    scope: 'Cluster',
    names: { plural, kind: plural[0]!.toUpperCase() + plural.slice(1, -1) },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        ...version,
      },
    ],
  },
});
