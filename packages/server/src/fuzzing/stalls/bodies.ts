/** Bodies and patches: many keys, deep nesting, YAML that multiplies, many operations, large managedFields. */

import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import { configMap, configMaps, get, list, patch, post, record, size, someAccept, text } from './input.ts';
import type { Generator, StallInput, Step } from './input.ts';

/** Probability of a body at the size limit. */
const largeChance = 0.003;

const amount = (random: Random, usual: number, large: number): number =>
  chance(random, largeChance) ? large : size(random, usual);

const nested = (depth: number, open: string, close: string): string => open.repeat(depth) + '1' + close.repeat(depth);

export const json: Generator = (random) => {
  const name = `j${random.below(1e9)}`;
  const kind = pick(random, Object.keys(jsonBodies));
  const [described, body] = jsonBodies[kind]!(random, name);
  const headers = { 'content-type': 'application/json' };
  return {
    name: `JSON: ${described}`,
    steps: [
      post(configMaps, body, headers),
      get(`${configMaps}/${name}`, someAccept(random)),
      { method: 'PUT', target: `${configMaps}/${name}`, body, headers },
      get(configMaps, someAccept(random)),
      { method: 'DELETE', target: `${configMaps}/${name}` },
    ],
  };
};

const start = (name: string): string => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"}`;

const jsonBodies: Readonly<Record<string, (random: Random, name: string) => [string, string]>> = {
  keys(random, name) {
    const count = amount(random, 2_000, 200_000);
    const keys = list(count, (at) => `"k${at}":"v"`).join();
    const field = pick(random, ['data', 'unknown', 'binaryData']);
    return [`${count} keys in ${field}`, `${start(name)},"${field}":{${keys}}}`];
  },
  repeated(random, name) {
    const count = amount(random, 2_000, 300_000);
    return [`one key ${count} times`, `${start(name)},"data":{${'"a":"b",'.repeat(count)}"a":"b"}}`];
  },
  unknown(random, name) {
    const count = amount(random, 1_500, 200_000);
    return [`${count} unknown fields`, `${start(name)},${list(count, (at) => `"u${at}":1`).join()}}`];
  },
  deep(random, name) {
    const depth = amount(random, 2_000, 400_000);
    const [open, close] = pick(random, [
      ['[', ']'],
      ['{"a":', '}'],
      ['[[],', ']'],
    ]);
    return [`${depth} levels of ${open}`, `${start(name)},"data":${nested(depth, open!, close!)}}`];
  },
  metadata(random, name) {
    const count = amount(random, 1_500, 60_000);
    const field = pick(random, ['labels', 'annotations']);
    const keys = list(count, (at) => `"k${at}":"v"`).join();
    return [
      `${count} ${field}`,
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}","${field}":{${keys}}}}`,
    ];
  },
  lists(random, name) {
    const count = amount(random, 1_500, 100_000);
    const field = pick(random, ['finalizers', 'ownerReferences', 'managedFields']);
    const item = { finalizers: '"a.b/c"', ownerReferences: '{"uid":"u"}', managedFields: '{"manager":"m"}' }[field]!;
    const items = list(count, () => item).join();
    return [
      `${count} ${field}`,
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}","${field}":[${items}]}}`,
    ];
  },
  strings(random, name) {
    const length = amount(random, 30_000, 900_000);
    const unit = pick(random, ['a', '\\u0001', '\\"', '\\ud83d\\ude00', '\\ud800', 'é', '\\\\']);
    const value = unit.repeat(Math.floor(length / unit.length));
    return [`a string of ${value.length} bytes of ${unit}`, `${start(name)},"data":{"a":"${value}"}}`];
  },
  numbers(random, name) {
    const length = amount(random, 10_000, 1_000_000);
    const number = pick(random, ['1'.repeat(length), `1e${'0'.repeat(length)}1`, `0.${'3'.repeat(length)}`]);
    return [`a number of ${length} digits`, `${start(name)},"data":{"a":${number}}}`];
  },
  spaces(random, name) {
    const length = amount(random, 30_000, 3_000_000);
    return [`${length} spaces`, `${start(name)},${' '.repeat(length)}"data":{}}`];
  },
  fields(random, name) {
    const depth = size(random, 300);
    const width = size(random, 20);
    let fields: object = record(width, () => ({}), 'f:k');
    for (let at = 0; at < depth; at++) fields = { 'f:a': fields, '.': {} };
    const entry = { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: fields };
    const entries = list(size(random, 30), (at) => ({ ...entry, manager: `m${at}` }));
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, managedFields: entries },
      data: { a: 'b' },
    };
    return [`${entries.length} managers of fields ${depth} deep`, JSON.stringify(object)];
  },
};

export const yaml: Generator = (random) => {
  const name = `y${random.below(1e9)}`;
  const kind = pick(random, Object.keys(yamlBodies));
  const [described, rest] = yamlBodies[kind]!(random);
  const head = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
  const body = kind === 'documents' && chance(random, 0.5) ? rest + head : head + rest;
  const headers = { 'content-type': 'application/yaml' };
  const step: Step = chance(random, 0.5)
    ? post(configMaps, body, headers)
    : patch(`${configMaps}/${name}`, 'apply', body);
  return {
    name: `YAML: ${described}`,
    steps: [
      step,
      get(`${configMaps}/${name}`, 'application/yaml'),
      { method: 'DELETE', target: `${configMaps}/${name}` },
    ],
  };
};

const yamlBodies: Readonly<Record<string, (random: Random) => [string, string]>> = {
  documents(random) {
    const count = amount(random, 10_000, 780_000);
    const separator = pick(random, ['---\n', '...\n', '--- {}\n', '--- #\n']);
    return [
      `${count} documents ${JSON.stringify(separator)}`,
      separator.repeat(Math.floor((count * 4) / separator.length)),
    ];
  },
  aliases(random) {
    const [levels, each] = [size(random, 30), size(random, 12)];
    const lines = list(levels, (at) => {
      return `a${at}: &a${at} [${list(each, () => (at === 0 ? 'x' : `*a${at - 1}`)).join()}]\n`;
    });
    return [`aliases of ${each} on ${levels} levels`, lines.join('')];
  },
  anchors(random) {
    const count = amount(random, 2_000, 100_000);
    return [`${count} anchors`, `data:\n${list(count, (at) => `  k${at}: &n${at} v\n`).join('')}`];
  },
  merges(random) {
    const count = size(random, 1_000);
    const keys = list(size(random, 100), (at) => `k${at}: v`).join();
    return [`${count} merge keys`, `base: &b {${keys}}\nlist:\n${'- {<<: *b}\n'.repeat(count)}`];
  },
  flow(random) {
    const depth = amount(random, 1_500, 700_000);
    const [open, close] = pick(random, [
      ['[', ']'],
      ['{a: ', '}'],
      ['[a, ', ']'],
    ]);
    return [`${depth} levels of flow ${open}`, `data: ${nested(depth, open!, close!)}\n`];
  },
  block(random) {
    const depth = size(random, 1_000);
    const unit = pick(random, ['- ', 'a:\n']);
    const block = unit === '- ' ? unit.repeat(depth) : list(depth, (at) => `${' '.repeat(at)}a:\n`).join('');
    return [
      `${depth} levels of block ${JSON.stringify(unit)}`,
      `data:\n ${unit === '- ' ? block : block.trimStart()}1\n`,
    ];
  },
  scalars(random) {
    const length = amount(random, 30_000, 2_900_000);
    const [before, unit, after] = pick(random, [
      ['"', 'a', '"'],
      ['"', '\\u0041', '"'],
      ["'", "''", "'"],
      ['|\n', '  a\n', ''],
      ['>\n', '  a\n\n', ''],
      ['"', '\n\n', '"'],
      ['', 'a ', 'a'],
      ['# ', ':', ''],
    ]);
    return [
      `a scalar of ${length} bytes of ${JSON.stringify(unit)}`,
      `data:\n  a: ${before}${unit!.repeat(Math.floor(length / unit!.length))}${after}\n`,
    ];
  },
  keys(random) {
    const count = amount(random, 2_000, 200_000);
    const key = pick(random, [
      (at: number) => `k${at}: v`,
      (at: number) => `"k${at}": v`,
      (at: number) => `? k${at}\n  : v`,
    ]);
    return [`${count} keys`, `data:\n${list(count, (at) => `  ${key(at)}\n`).join('')}`];
  },
  tags(random) {
    const count = amount(random, 2_000, 100_000);
    const tag = pick(random, ['!!str ', '! ', '!<x> ', '!!binary ', '%TAG ']);
    return [`${count} tags ${tag}`, `data:\n${list(count, (at) => `  k${at}: ${tag}v\n`).join('')}`];
  },
  comments(random) {
    const count = amount(random, 10_000, 1_000_000);
    return [`${count} comments`, `${'#\n'.repeat(count)}data: {}\n`];
  },
  noise(random) {
    const count = size(random, 3_000);
    const parts = [
      '- ',
      ': ',
      '[',
      ']',
      '{',
      '}',
      ', ',
      '? ',
      '&a ',
      '*a ',
      '!',
      '|',
      '>',
      '"',
      "'",
      '#',
      '\n',
      '  ',
      'k',
    ];
    return [`${count} pieces of syntax`, list(count, () => pick(random, parts)).join('')];
  },
};

const podSpec = (containers: number, env: number): object => ({
  containers: list(containers, (at) => ({
    name: `c${at}`,
    image: 'i',
    env: list(env, (place) => ({ name: `E${place}`, value: 'v' })),
  })),
});

/** Patches of each kind, of an object that is large or small. */
export const patches: Generator = (random) => {
  const name = `q${random.below(1e9)}`;
  const kind = pick(random, ['json', 'merge', 'strategic', 'apply'] as const);
  return { json: jsonPatch, merge: mergePatch, strategic: strategicPatch, apply: applyPatch }[kind](random, name);
};

const onConfigMap = (name: string, described: string, data: object, changes: readonly Step[]): StallInput => ({
  name: described,
  steps: [
    post(configMaps, configMap(name, { data })),
    ...changes,
    get(`${configMaps}/${name}`),
    { method: 'DELETE', target: `${configMaps}/${name}` },
  ],
});

function jsonPatch(random: Random, name: string): StallInput {
  const count = amount(random, 2_000, 10_000);
  const operation = pick<(at: number) => object>(random, [
    (at: number) => ({ op: 'add', path: `/data/p${at}`, value: 'v' }),
    (at: number) => ({ op: 'replace', path: '/data/a', value: `${at}` }),
    () => ({ op: 'test', path: '/data/a', value: 'v' }),
    (at: number) => ({ op: 'copy', from: '/data', path: `/data/c${at}` }),
    (at: number) => ({ op: 'copy', from: '/metadata', path: `/metadata/c${at}` }),
    (at: number) => ({ op: 'move', from: `/data/${at === 0 ? 'a' : `m${at - 1}`}`, path: `/data/m${at}` }),
    () => ({ op: 'add', path: '/metadata/finalizers/0', value: 'a.b/c' }),
    () => ({ op: 'test', path: `/${'a/'.repeat(200)}`, value: 1 }),
  ]);
  const operations = list(count, operation);
  if (chance(random, 0.3)) operations.unshift({ op: 'add', path: '/metadata/finalizers', value: [] });
  const target = `${configMaps}/${name}`;
  const described = `a JSON patch of ${count} operations ${JSON.stringify(operation(1)).slice(0, 80)}`;
  return onConfigMap(name, described, { a: 'v' }, [patch(target, 'json', operations)]);
}

function mergePatch(random: Random, name: string): StallInput {
  const count = amount(random, 2_000, 150_000);
  const isDeep = chance(random, 0.3);
  const body = isDeep
    ? `{"data":${nested(Math.min(count, 100_000), '{"a":', '}')}}`
    : JSON.stringify({ data: record(count, () => pick(random, ['v', null])) });
  const described = `a merge patch of ${count} ${isDeep ? 'levels' : 'keys'}`;
  return onConfigMap(name, described, { a: 'v' }, [patch(`${configMaps}/${name}`, 'merge', body)]);
}

function strategicPatch(random: Random, name: string): StallInput {
  const pods = '/api/v1/namespaces/default/pods';
  const [containers, env, changed] = [size(random, 100), size(random, 30), size(random, 200)];
  const item = (at: number): object => ({
    name: `c${at}`,
    image: 'j',
    ...(chance(random, 0.3) && { $patch: pick(random, ['delete', 'replace', 'merge']) }),
    env: list(size(random, 20), (place) => ({ name: `F${place}`, value: 'w' })),
  });
  const spec = {
    containers: list(changed, item),
    ...(chance(random, 0.5) && {
      '$setElementOrder/containers': list(changed, (at) => ({ name: `c${changed - at}` })),
    }),
    ...(chance(random, 0.3) && { '$deleteFromPrimitiveList/finalizers': list(changed, (at) => `f${at}`) }),
  };
  return {
    name: `a strategic patch of ${changed} containers for ${containers} with ${env} variables`,
    steps: [
      post(pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: podSpec(containers, env) }),
      patch(`${pods}/${name}`, 'strategic', { spec }),
      get(`${pods}/${name}`, someAccept(random)),
      { method: 'DELETE', target: `${pods}/${name}?gracePeriodSeconds=0` },
    ],
  };
}

function applyPatch(random: Random, name: string): StallInput {
  const deployments = '/apis/apps/v1/namespaces/default/deployments';
  const managers = size(random, 5);
  const isDeployment = chance(random, 0.5);
  const [containers, env] = [size(random, 50), size(random, 30)];
  const keys = amount(random, 1_500, 150_000);
  const body = (): object =>
    isDeployment
      ? {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name },
          spec: {
            selector: { matchLabels: { a: 'b' } },
            template: { metadata: { labels: { a: 'b' } }, spec: podSpec(containers, env) },
          },
        }
      : configMap(name, { data: record(keys, () => text(random, 3)) });
  const target = `${isDeployment ? deployments : configMaps}/${name}`;
  const bodies = list(Math.min(managers, keys > 20_000 ? 2 : managers), (at): Step => ({
    ...patch(target, 'apply', body()),
    target: `${target}?fieldManager=m${at}&force=true`,
  }));
  return {
    name: `${managers} managers apply ${isDeployment ? `${containers} containers of ${env} variables` : `${keys} keys`}`,
    steps: [...bodies, get(target, someAccept(random)), { method: 'DELETE', target }],
  };
}
