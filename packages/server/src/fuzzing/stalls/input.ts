/**
 * An input of the stall fuzzer: a few requests that one tenant sends, in order. Each is small or within the body limit, and
 * each tries to make the server do much more work than its size suggests.
 */

import { pick } from '@hangar/core';
import type { Random } from '@hangar/core';

export interface Step {
  readonly method: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object becomes JSON. */
  readonly body?: object | string | Uint8Array;
  /** Repeats the request until it is not answered with 404: a definition is served some time after its creation. */
  readonly untilServed?: boolean;
}

export interface StallInput {
  /** Description of the input, with its sizes. */
  readonly name: string;
  readonly steps: readonly Step[];
}

export type Generator = (random: Random) => StallInput;

/** A whole number from 1 to `max`. Small ones are as likely as large ones: each order of magnitude gets the same share. */
export const size = (random: Random, max: number): number => Math.floor(max ** random.fraction());

export const list = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_, at) => make(at));

export const record = <T>(length: number, make: (at: number) => T, name = 'k'): Record<string, T> =>
  Object.fromEntries(list(length, (at) => [`${name}${at}`, make(at)]));

export const text = (random: Random, max: number): string =>
  pick(random, ['a', 'ab', 'a,', ' ', '\n', '"', '\\', 'é', '\u0001', '😀', '-', '1']).repeat(size(random, max));

export const configMaps = '/api/v1/namespaces/default/configmaps';
export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export const configMap = (name: string, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...more,
});

export const post = (target: string, body: Step['body'], headers?: Step['headers']): Step => ({
  method: 'POST',
  target,
  body: body!,
  ...(headers && { headers }),
});

export const patch = (target: string, type: keyof typeof patchTypes, body: object | string | Uint8Array): Step => ({
  method: 'PATCH',
  target: type === 'apply' ? `${target}${target.includes('?') ? '&' : '?'}fieldManager=fuzz&force=true` : target,
  headers: { 'content-type': patchTypes[type] },
  body,
});

export const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

export const get = (target: string, accept?: string): Step => ({
  method: 'GET',
  target,
  ...(accept !== undefined && { headers: { accept } }),
});

export const accepts = {
  yaml: 'application/yaml',
  table: 'application/json;as=Table;g=meta.k8s.io;v=v1',
  metadata: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  metadataList: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  protobuf: 'application/vnd.kubernetes.protobuf',
  json: 'application/json',
} as const;

export const someAccept = (random: Random): string => pick(random, Object.values(accepts));
