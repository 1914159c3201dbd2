/**
 * A kind as discovery describes it. Names from a server are untrusted, because they become parts of paths: an entry with an invalid name
 * is ignored, all others are used.
 */

import { isObject } from '@hangar/api/json';
import type { JsonObject } from '@hangar/api';
import type { Kind } from '../kind.ts';

/** A kind as the server describes it in discovery. */
export interface DiscoveredKind extends Kind {
  /** API group; '' is the core group. */
  readonly group: string;
  readonly version: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** Names of the subresources: `status`, `scale`, … */
  readonly subresources: readonly string[];
}

/** A version of a group, in the order of the server: the preferred version of a group comes first. */
export interface DiscoveredVersion {
  readonly group: string;
  readonly version: string;
  readonly kinds: readonly DiscoveredKind[];
  /** True when the server of this group-version cannot be reached, so that kinds may be missing. */
  readonly isUnavailable: boolean;
}

export const groupsMax = 10_000;
const kindsOfVersionMax = 20_000;
const textsMax = 200;

const dnsName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
/** As in definitions: a DNS label when in lower case. */
const kindName = /^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$/;

export const isDnsName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 253 && dnsName.test(value) && !value.includes('..');

export const isKindName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 253 && kindName.test(value);

export const objectsIn = (value: unknown, max = kindsOfVersionMax): JsonObject[] =>
  Array.isArray(value) ? value.slice(0, max).filter(isObject) : [];

export const textsIn = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.slice(0, textsMax).filter((one): one is string => typeof one === 'string' && one.length <= 253)
    : [];

export const apiVersionOf = (group: string, version: string): string =>
  group === '' ? version : `${group}/${version}`;
