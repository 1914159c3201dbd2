/** Semantic versions, `1.36.0-alpha.1+build`; absent counts as 0.0.0. */

export interface SemanticVersion {
  readonly numbers: readonly bigint[];
  readonly preRelease: readonly string[];
}

const form =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

const lengthMax = 1024;

export function parseVersion(text: string): SemanticVersion | undefined {
  const match = text.length > lengthMax ? null : form.exec(text);
  if (!match) return undefined;
  const [, major = '0', minor = '0', patch = '0', preRelease] = match;
  return { numbers: [major, minor, patch].map(BigInt), preRelease: preRelease?.split('.') ?? [] };
}

const zero: SemanticVersion = { numbers: [0n, 0n, 0n], preRelease: [] };

/** Negative if `one` comes first. Build metadata after `+` is ignored. */
export function compareVersions(one: SemanticVersion = zero, other: SemanticVersion = zero): number {
  for (const at of [0, 1, 2]) {
    if (one.numbers[at] !== other.numbers[at]) return one.numbers[at]! < other.numbers[at]! ? -1 : 1;
  }
  return comparePreReleases(one.preRelease, other.preRelease);
}

function comparePreReleases(one: readonly string[], other: readonly string[]): number {
  if (one.length === 0 || other.length === 0) return Math.sign(other.length - one.length);
  for (const [at, part] of one.entries()) {
    const against = other[at];
    if (against === undefined) return 1;
    const order = compareParts(part, against);
    if (order !== 0) return order;
  }
  return one.length === other.length ? 0 : -1;
}

/** Compares numbers by value; numbers come before words. */
function compareParts(one: string, other: string): number {
  if (one === other) return 0;
  const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (isNumber && isOtherNumber) return BigInt(one) < BigInt(other) ? -1 : 1;
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return one < other ? -1 : 1;
}
