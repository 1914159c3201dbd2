/** Versions of Kubernetes. */

import { HostedError } from '../errors.ts';

export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** With a leading v, and with the characters of a build tag that an image tag cannot have replaced: `v1.36.4`. */
  readonly tag: string;
}

/** Parses `v1.36.4`, `1.36.4` and `v1.36.4+build.1`. Throws `InvalidVersion`. */
export function parseVersion(text: string): Version {
  const [, major, minor, patch, rest = ''] = /^v?(\d+)\.(\d+)\.(\d+)([-+].*)?$/.exec(text) ?? [];
  if (major === undefined) {
    throw new HostedError('InvalidVersion', `version ${JSON.stringify(text)} is not a version such as v1.36.4`);
  }
  const tag = `v${major}.${minor}.${patch}${rest.replaceAll('+', '_')}`;
  return { major: Number(major), minor: Number(minor), patch: Number(patch), tag };
}
