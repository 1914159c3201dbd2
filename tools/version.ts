/**
 * Versions as programs print them, and the accepted ones. Only plain releases count: a suffix (`-dispatcher`, `-rc.1`, `+k3s1`) means a
 * wrapper, a preview or a vendor's build, and a test against it would be misleading.
 */

export interface Version {
  major: number;
  minor: number;
  patch: number;
  /** The part behind the numbers, with its `-` or `+`; empty for a plain release. */
  suffix: string;
}

/** Half-open: `from` is accepted, `before` is not. */
export interface AcceptedVersions {
  from: string;
  before?: string;
}

const pattern = /(\d+)\.(\d+)(?:\.(\d+))?([-+][\w.+-]*)?/;

/** Returns the first version in the text, e.g. in the output of `--version`. A missing patch number is 0. */
export function parseVersion(text: string): Version | undefined {
  const match = pattern.exec(text);
  if (!match) return undefined;
  const [, major, minor, patch, suffix] = match;
  // Debian removed files from the source of such a release (`1.1.5+ds1`); the program is the same.
  if (suffix !== undefined && /^\+(ds|dfsg)\d*$/.test(suffix)) return parseVersion(`${major}.${minor}.${patch ?? 0}`);
  return { major: Number(major), minor: Number(minor), patch: Number(patch ?? 0), suffix: suffix ?? '' };
}

/** `v1.36.4`, the way Go modules, Kubernetes and etcd name their releases. */
export function formatVersion(version: Version): string {
  return `v${version.major}.${version.minor}.${version.patch}${version.suffix}`;
}

/** Compares the numbers only. */
export function compareVersions(a: Version, b: Version): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}

/** Returns why the version is not accepted, as the end of a sentence that begins with its owner; undefined when it is. */
export function refusal(version: Version, accepted: AcceptedVersions): string | undefined {
  const name = formatVersion(version);
  if (version.suffix !== '') return `is ${name}, which is not a plain release`;
  if (compareVersions(version, bound(accepted.from)) < 0) return `is ${name}, older than ${accepted.from}`;
  if (accepted.before !== undefined && compareVersions(version, bound(accepted.before)) >= 0) {
    return `is ${name}, not older than ${accepted.before}`;
  }
  return undefined;
}

/**
 * The upstream part of a Debian version: `1:3.5.16-4+b1` → 3.5.16. Debian writes `1.20.5+really1.20.2` when it had to
 * go back to an older release under a newer number.
 */
export function parseDebianVersion(text: string): Version | undefined {
  const upstream = text.replace(/^\d+:/, '').replace(/-[^-]*$/, '');
  const version = parseVersion(/\+really(.*)$/.exec(upstream)?.[1] ?? upstream);
  return version && { ...version, suffix: '' };
}

function bound(text: string): Version {
  const version = parseVersion(text);
  if (!version) throw new Error(`impossible state: ${text} in the catalogue is not a version`);
  return version;
}
