/**
 * Generates a sequence of requests about a few objects of one or two kinds, from a seed alone. Most requests are meaningful in their
 * context; the others contain typical errors of clients.
 */

import { isObject } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import { chance, pick, seededRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import type { Body, Step } from '../step.ts';
import { kinds } from './kinds.ts';
import type { Kind } from './kinds.ts';
import { mutate, part, withRandomFields } from './mutate.ts';
import { jsonPatch, mergePatch, strategicPatch } from './patches.ts';
import { listQuery, writeQuery } from './queries.ts';

export function sequence(seed: number): Step[] {
  const random = seededRandom(seed);
  const used = chance(random, 0.8) ? [pick(random, kinds)] : [pick(random, kinds), pick(random, kinds)];
  const length = 3 + random.below(10);
  const steps = [create(random, used[0]!, 'a')];
  while (steps.length < length) {
    const kind = pick(random, used);
    steps.push(pick(random, operations)(random, kind, chance(random, 0.75) ? 'a' : 'b'));
  }
  return steps;
}

type Operation = (random: Random, kind: Kind, name: string) => Step;

/** Cluster-scoped objects are distinguished by their sequence. */
const nameOf = (kind: Kind, name: string): string => (kind.namespaced ? name : `{ns}-${name}`);
const objectPath = (kind: Kind, name: string): string => `${kind.path}/${nameOf(kind, name)}`;
const json = (value: unknown): Body => ({ type: 'json', value });

/** Returns a whole object: a sample, perhaps changed. */
function object(random: Random, kind: Kind, name: string): JsonObject {
  let body: unknown = structuredClone(pick(random, kind.bodies));
  if (kind.struct && chance(random, 0.25)) body = withRandomFields(random, kind.struct, body as JsonObject);
  if (chance(random, 0.3)) body = mutate(random, body);
  const { metadata, ...rest } = isObject(body) ? body : {};
  const typed = { apiVersion: kind.apiVersion, kind: kind.kind };
  const named = { ...(isObject(metadata) ? metadata : {}), ...moreMetadata(random), name: nameOf(kind, name) };
  const whole = { ...typed, metadata: named, ...rest };
  return chance(random, 0.04) ? (mutate(random, whole, 1) as JsonObject) : whole;
}

function moreMetadata(random: Random): JsonObject {
  const metadata: JsonObject = {};
  if (chance(random, 0.4)) metadata['labels'] = { [pick(random, ['a', 'b', 'app'])]: pick(random, ['x', 'y']) };
  if (chance(random, 0.2)) metadata['annotations'] = { 'example.com/note': pick(random, ['one', 'two']) };
  if (chance(random, 0.1))
    metadata['finalizers'] = [pick(random, ['example.com/hold', 'foregroundDeletion', 'orphan', 'odd'])];
  if (chance(random, 0.05)) metadata['ownerReferences'] = [{ apiVersion: 'v1', kind: 'Pod', name: 'o', uid: '{uid}' }];
  return chance(random, 0.1) ? (mutate(random, metadata, 1) as JsonObject) : metadata;
}

function create(random: Random, kind: Kind, name: string): Step {
  const body = object(random, kind, name);
  if (chance(random, 0.05) && isObject(body['metadata'])) {
    delete body['metadata']['name'];
    body['metadata']['generateName'] = 'gen-';
  }
  return {
    method: 'POST',
    object: objectPath(kind, name),
    path: kind.path,
    query: writeQuery(random),
    body: chance(random, 0.02) ? damaged(random, body) : json(body),
  };
}

function damaged(random: Random, body: JsonObject): Body {
  const text = JSON.stringify(body);
  const at = random.below(text.length);
  return {
    type: 'text',
    text: pick(random, [
      text.slice(0, at),
      `${text}}`,
      text.replace(/:/, ': :'),
      text.replace('{', '{"kind":"Odd",'),
      '',
      'null',
      '[]',
    ]),
  };
}

const subresourceOf = (random: Random, kind: Kind, p: number): string =>
  kind.subresources.length > 0 && chance(random, p) ? pick(random, kind.subresources) : '';
const below = (path: string, subresource: string): string => (subresource === '' ? path : `${path}/${subresource}`);

function update(random: Random, kind: Kind, name: string): Step {
  const subresource = subresourceOf(random, kind, 0.25);
  const path = objectPath(kind, name);
  const common = { method: 'PUT', object: path, path: below(path, subresource), query: writeQuery(random) } as const;
  if (subresource === 'scale') return { ...common, body: json(scale(random, kind, name)) };
  if (chance(random, 0.6)) return { ...common, body: { type: 'live', change: change(random, kind, subresource) } };
  const body = object(random, kind, name);
  const version = pick(random, [undefined, '{rv}', '{rv}', '{rv0}', '999999999', 'odd', '0', '']);
  if (version !== undefined && isObject(body['metadata'])) body['metadata']['resourceVersion'] = version;
  return { ...common, body: json(body) };
}

function scale(random: Random, kind: Kind, name: string): JsonObject {
  const metadata = { name: nameOf(kind, name), ...(kind.namespaced ? { namespace: '{ns}' } : {}) };
  const whole = {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata,
    spec: { replicas: pick(random, [0, 2, 5, -1]) },
  };
  return chance(random, 0.2) ? (mutate(random, whole) as JsonObject) : whole;
}

/** Returns a merge patch that a user might send. */
function change(random: Random, kind: Kind, subresource: string): JsonObject {
  const fitting = kind.changes.filter((one) => one.subresource === subresource);
  if (fitting.length > 0 && chance(random, 0.5)) return pick(random, fitting).patch;
  const body = pick(random, kind.bodies);
  const patch = part(random, { metadata: moreMetadata(random), ...body }, 0.8);
  const mutated = chance(random, 0.35) ? mutate(random, patch, 1) : patch;
  return isObject(mutated) ? mutated : patch;
}

function patch(random: Random, kind: Kind, name: string): Step {
  const subresource = subresourceOf(random, kind, 0.2);
  const path = objectPath(kind, name);
  const type = pick(random, ['json', 'merge', 'merge', 'strategic'] as const);
  const sample = subresource === 'scale' ? { spec: { replicas: 3 } } : change(random, kind, subresource);
  const body = { json: jsonPatch, merge: mergePatch, strategic: strategicPatch }[type](random, sample);
  return {
    method: 'PATCH',
    object: path,
    path: below(path, subresource),
    query: writeQuery(random),
    contentType: patchTypes[type],
    body: json(withVersion(random, type, body)),
  };
}

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

/** Some patches contain a version as precondition. */
function withVersion(random: Random, type: string, body: unknown): unknown {
  if (type === 'json' || !isObject(body) || chance(random, 0.85)) return body;
  const metadata = isObject(body['metadata']) ? body['metadata'] : {};
  return { ...body, metadata: { ...metadata, resourceVersion: pick(random, ['{rv}', '{rv0}', '999999999']) } };
}

function apply(random: Random, kind: Kind, name: string): Step {
  const subresource = subresourceOf(random, kind, 0.15);
  const path = objectPath(kind, name);
  const { metadata, ...rest } = object(random, kind, name);
  const { apiVersion, kind: kindName, ...body } = rest;
  const stated = chance(random, 0.5) ? part(random, body) : body;
  const value =
    subresource === 'scale' ? scale(random, kind, name) : { apiVersion, kind: kindName, metadata, ...stated };
  return {
    method: 'PATCH',
    object: path,
    path: below(path, subresource),
    query: {
      ...writeQuery(random, 0.1),
      ...(chance(random, 0.97) ? { fieldManager: pick(random, ['alice', 'alice', 'bob', 'carol']) } : {}),
      ...(chance(random, 0.35) ? { force: pick(random, ['true', 'true', 'false']) } : {}),
    },
    contentType: 'application/apply-patch+yaml',
    body: json(value),
  };
}

function remove(random: Random, kind: Kind, name: string): Step {
  const path = objectPath(kind, name);
  const options = pick(random, [
    undefined,
    undefined,
    { gracePeriodSeconds: 0 },
    { gracePeriodSeconds: 5 },
    { propagationPolicy: 'Foreground' },
    { propagationPolicy: 'Orphan' },
    { propagationPolicy: 'Background' },
    { propagationPolicy: 'odd' },
    { orphanDependents: true },
    { orphanDependents: true, propagationPolicy: 'Orphan' },
    { preconditions: { uid: '{uid}' } },
    { preconditions: { uid: 'other' } },
    { preconditions: { resourceVersion: '{rv}' } },
    { preconditions: { resourceVersion: '{rv0}' } },
    { dryRun: ['All'] },
    { dryRun: ['odd'] },
    { gracePeriodSeconds: -3 },
    { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 'odd' },
  ]);
  return {
    method: 'DELETE',
    object: path,
    path,
    query: chance(random, 0.1)
      ? pick(random, [{ dryRun: 'All' }, { propagationPolicy: 'Orphan' }, { gracePeriodSeconds: '1' }])
      : {},
    ...(options === undefined ? {} : { body: json(options) }),
  };
}

function get(random: Random, kind: Kind, name: string): Step {
  const path = objectPath(kind, name);
  return {
    method: 'GET',
    object: path,
    path: below(path, subresourceOf(random, kind, 0.3)),
    query: chance(random, 0.1) ? { resourceVersion: pick(random, ['0', '{rv}', 'odd', '999999999']) } : {},
    ...(chance(random, 0.15) ? { accept: pick(random, accepts) } : {}),
  };
}

const accepts = [
  'application/yaml',
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  'application/json;as=Table;g=meta.k8s.io;v=v1,application/json',
  'text/html',
];

function list(random: Random, kind: Kind, name: string): Step {
  const path = objectPath(kind, name);
  // Lists of the cluster contain objects of other sequences.
  const query = kind.namespaced ? listQuery(random) : { fieldSelector: `metadata.name=${nameOf(kind, name)}` };
  return { method: 'GET', object: path, path: kind.path, query };
}

function removeAll(random: Random, kind: Kind, name: string): Step {
  if (!kind.namespaced) return remove(random, kind, name);
  const { limit: _l, continue: _c, ...query } = listQuery(random);
  return { method: 'DELETE', object: objectPath(kind, name), path: kind.path, query };
}

/** Weights, out of 20. */
const weights: readonly (readonly [weight: number, operation: Operation])[] = [
  [2, create],
  [3, update],
  [4, patch],
  [4, apply],
  [2, remove],
  [2, get],
  [2, list],
  [1, removeAll],
];
const operations = weights.flatMap(([weight, operation]) => Array.from({ length: weight }, () => operation));
