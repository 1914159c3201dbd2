/**
 * Decides how etcd gets from one version to another. Members of one cluster may differ by one minor version, and etcd cannot go back after
 * the last member was upgraded.
 *
 *     3.5.24-0 → 3.6.8-0     first 3.5.26-0, because older patches can bring back removed members and demote voters in 3.6
 *     3.6.8-0  → 3.5.26-0    refused
 *     3.4.30-0 → 3.6.8-0     refused: one minor version at a time
 */

import type { Fault } from '../fault.ts';

/** Version of the image `etcd` of Kubernetes: the version of etcd, and the revision of the image. */
export interface EtcdVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** Tag of the image, such as 3.6.8-0. */
  readonly tag: string;
}

export type VersionStep =
  | { readonly type: 'none' }
  /** Another patch of the same minor version. */
  | { readonly type: 'patch'; readonly tag: string }
  /** The next minor version: a snapshot comes first. */
  | { readonly type: 'minor'; readonly tag: string }
  | ({ readonly type: 'refused' } & Fault);

/** The first patch of a minor version that can be upgraded to the next one. */
const upgradeableFrom: Readonly<Record<number, string>> = { 5: '3.5.26-0' };

/** Parses `3.6.8` and `3.6.8-0`. Returns undefined for other tags, for example of images of users. */
export function parseEtcdVersion(text: string): EtcdVersion | undefined {
  const [, major, minor, patch, revision = '0'] = /^v?(\d+)\.(\d+)\.(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  if (major === undefined) return undefined;
  return {
    major: Number(major),
    minor: Number(minor),
    patch: Number(patch),
    tag: `${major}.${minor}.${patch}-${revision}`,
  };
}

/** `current` and `wanted` are tags. A tag that is not a version is the responsibility of the user who set it. */
export function versionStep(current: string, wanted: string): VersionStep {
  const [from, to] = [parseEtcdVersion(current), parseEtcdVersion(wanted)];
  if (current === wanted) return { type: 'none' };
  if (!from || !to) return { type: 'patch', tag: wanted };
  if (compare(to, from) < 0) {
    const message = `etcd ${current} cannot be downgraded to ${wanted}: set spec.etcd.version to ${current} or higher`;
    return { type: 'refused', reason: 'EtcdDowngrade', message };
  }
  if (to.major !== from.major || to.minor > from.minor + 1) {
    const message = `etcd ${current} cannot be upgraded to ${wanted}: set spec.etcd.version to a version of ${from.major}.${from.minor + 1} first`;
    return { type: 'refused', reason: 'EtcdVersionSkipped', message };
  }
  if (to.minor === from.minor) return { type: 'patch', tag: to.tag };
  const first = parseEtcdVersion(upgradeableFrom[from.minor] ?? '');
  return first && compare(from, first) < 0 ? { type: 'patch', tag: first.tag } : { type: 'minor', tag: to.tag };
}

const compare = (a: EtcdVersion, b: EtcdVersion): number => a.major - b.major || a.minor - b.minor || a.patch - b.patch;
