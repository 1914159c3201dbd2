/** Generates a random hostile request. */

import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import {
  collectionOf,
  costly,
  hostileJson,
  hostilePatch,
  hostileProtobuf,
  hostileYaml,
  sample,
} from './hostile-bodies.ts';
import { accepts, contentTypes, languageNames, methods, path, query, userAgents } from './hostile-texts.ts';

export interface HostileRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
}

export function hostileRequest(random: Random): HostileRequest {
  const kind = random.below(10);
  if (kind < 3) return create(random);
  if (kind < 6) return change(random);
  if (kind < 8) return read(random);
  return anything(random);
}

/** Returns an expensive request: used rarely. */
export function costlyRequest(random: Random): HostileRequest {
  const { method, contentType, body } = pick(random, costly);
  const collection = '/api/v1/namespaces/default/configmaps';
  const target = method === 'POST' ? collection : `${collection}/a?fieldManager=a`;
  const given = method === 'PATCH' && contentType.includes('json') ? target.replace(/\?.*/, '') : target;
  return { method, target: given, headers: { 'content-type': contentType }, body: body() };
}

const maybeQuery = (random: Random, p: number): string => (chance(random, p) ? `?${query(random)}` : '');

function create(random: Random): HostileRequest {
  const object = sample(random);
  const collection = collectionOf[object['kind'] as string]!;
  const [contentType, body] = bodyOf(random, object);
  const isUpdate = chance(random, 0.3);
  const target = isUpdate ? `${collection}/a` : collection;
  return {
    method: isUpdate ? 'PUT' : 'POST',
    target: `${target}${maybeQuery(random, 0.15)}`,
    headers: headers(random, { 'content-type': contentType }),
    body,
  };
}

function bodyOf(random: Random, object: ReturnType<typeof sample>): [string, Buffer] {
  switch (random.below(10)) {
    case 0:
      return ['application/json', Buffer.from(JSON.stringify(object))];
    case 1:
    case 2:
      return ['application/yaml', Buffer.from(hostileYaml(random, object))];
    case 3:
    case 4:
      return ['application/vnd.kubernetes.protobuf', hostileProtobuf(random, object)];
    default:
      return ['application/json', Buffer.from(hostileJson(random, object))];
  }
}

function change(random: Random): HostileRequest {
  const object = sample(random);
  const collection = collectionOf[object['kind'] as string]!;
  const subresource = chance(random, 0.1) ? pick(random, ['/status', '/scale']) : '';
  const contentType = pick(random, contentTypes.slice(3, 7));
  const apply = contentType.includes('apply');
  const parts = [
    apply ? `fieldManager=${pick(random, ['a', 'b', ...languageNames])}` : '',
    chance(random, 0.1) ? query(random) : '',
  ];
  const text = parts.filter((one) => one !== '').join('&');
  const body = contentType.includes('json-patch')
    ? hostilePatch(random)
    : apply
      ? hostileYaml(random, object)
      : hostileJson(random, object);
  return {
    method: 'PATCH',
    target: `${collection}/a${subresource}${text === '' ? '' : `?${text}`}`,
    headers: headers(random, { 'content-type': contentType }),
    body: Buffer.from(body),
  };
}

function read(random: Random): HostileRequest {
  return {
    method: 'GET',
    target: `${path(random)}${maybeQuery(random, 0.8)}`,
    headers: headers(random, {}),
    body: undefined,
  };
}

function anything(random: Random): HostileRequest {
  const hasBody = chance(random, 0.6);
  const object = sample(random);
  return {
    method: pick(random, methods),
    target: `${path(random)}${maybeQuery(random, 0.4)}`,
    headers: headers(random, hasBody ? { 'content-type': pick(random, contentTypes) } : {}),
    body: hasBody
      ? Buffer.from(hostileJson(random, chance(random, 0.5) ? object : { propagationPolicy: 'Orphan' }))
      : undefined,
  };
}

function headers(random: Random, more: Record<string, string>): Record<string, string> {
  return {
    ...more,
    ...(chance(random, 0.2) ? { accept: pick(random, accepts) } : {}),
    ...(chance(random, 0.05) ? { 'user-agent': pick(random, userAgents) } : {}),
    ...(chance(random, 0.02) ? { 'accept-encoding': pick(random, ['gzip', 'br', 'gzip;q=0', '*', '__proto__']) } : {}),
    ...(chance(random, 0.02) ? { 'if-none-match': pick(random, ['"x"', '*', '__proto__']) } : {}),
  };
}
