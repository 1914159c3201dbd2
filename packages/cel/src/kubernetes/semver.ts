/** semver(), isSemver(): versions by semver 2.0, or normalized first on request. */

import { fail } from '../errors.ts';
import { method, overload } from '../environment.ts';
import type { Library } from '../environment.ts';
import * as t from '../types.ts';
import { canonical } from '../values/integers.ts';
import { Opaque } from '../values/values.ts';
import { allocate, work } from '../work.ts';

export const semverType = t.opaque('kubernetes.Semver');
const nsPerCharacter = 30;
const nsPerIdentifier = 300;
const uint64Max = 2n ** 64n - 1n;
const number = '(0|[1-9]\\d*)';
const identifier = '(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)';
const form = new RegExp(
  `^${number}\\.${number}\\.${number}(?:-(${identifier}(?:\\.${identifier})*))?(?:\\+([0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$`,
);

class Semver extends Opaque {
  readonly numbers: readonly bigint[];
  readonly preRelease: readonly string[];

  constructor(numbers: readonly bigint[], preRelease: readonly string[]) {
    super();
    this.numbers = numbers;
    this.preRelease = preRelease;
  }

  override get typeName(): string {
    return 'kubernetes.Semver';
  }

  override equals(other: Opaque): boolean {
    return other instanceof Semver && this.compare(other) === 0;
  }

  /** Build metadata is ignored. */
  compare(other: Semver): number {
    for (const [index, value] of this.numbers.entries()) {
      const against = other.numbers[index]!;
      if (value !== against) return value < against ? -1 : 1;
    }
    if (this.preRelease.length === 0 || other.preRelease.length === 0) {
      return Math.sign(other.preRelease.length - this.preRelease.length);
    }
    work(Math.min(this.preRelease.length, other.preRelease.length) * nsPerIdentifier);
    for (let index = 0; index < Math.max(this.preRelease.length, other.preRelease.length); index++) {
      const order = compareIdentifiers(this.preRelease[index], other.preRelease[index]);
      if (order !== 0) return order;
    }
    return 0;
  }
}

/** Numbers before words, absent before present. */
function compareIdentifiers(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1;
  const [left, right] = [a, b].map((text) => /^\d+$/.test(text));
  // Without leading zeros, the longer number is the larger.
  if (left && right && a.length !== b.length) return a.length < b.length ? -1 : 1;
  if (left !== right) return left ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function parse(text: string, normalize = false): Semver | undefined {
  work(text.length * nsPerCharacter);
  allocate(text.length * 2);
  const match = form.exec(normalize ? normalized(text) : text);
  if (!match) return undefined;
  if (match.slice(1, 4).some((digits) => digits.length > 20)) return undefined;
  const numbers = match.slice(1, 4).map(BigInt);
  if (numbers.some((value) => value > uint64Max)) return undefined;
  return new Semver(numbers, match[4]?.split('.') ?? []);
}

/** Converts `v01.2` to `1.2.0`: no prefix, no leading zeros, three numbers; a short version may have no suffix. */
function normalized(text: string): string {
  const [major = '', minor, ...rest] = text.replace(/^v/, '').split('.');
  const parts = [major, ...(minor === undefined ? [] : [minor]), ...(rest.length === 0 ? [] : [rest.join('.')])];
  const plain = parts.map((part) => (part.length > 1 ? part.replace(/^0+(?=\d)/, '') : part));
  if (plain.length < 3 && /[+-]/.test(plain.at(-1)!)) return '';
  while (plain.length < 3) plain.push('0');
  return plain.join('.');
}

const { boolType: bool, stringType: string } = t;
const toSemver = (text: string, normalize?: boolean): Semver =>
  parse(text, normalize) ?? fail(`invalid semantic version ${JSON.stringify(text)}`);
const isSemver = (text: string, normalize?: boolean): boolean => parse(text, normalize) !== undefined;
const part = (index: number) => (version: Semver) => canonical(BigInt.asIntN(64, version.numbers[index]!));
const two = [semverType, semverType];

export const semvers: Library = {
  name: 'kubernetes semver',
  types: [semverType],
  functions: {
    semver: [
      overload('string_to_semver', [string], semverType, toSemver),
      overload('string_bool_to_semver', [string, bool], semverType, toSemver),
    ],
    isSemver: [
      overload('is_semver_string', [string], bool, isSemver),
      overload('is_semver_string_bool', [string, bool], bool, isSemver),
    ],
    isGreaterThan: [method('semver_is_greater_than', two, bool, (a: Semver, b: Semver) => a.compare(b) > 0)],
    isLessThan: [method('semver_is_less_than', two, bool, (a: Semver, b: Semver) => a.compare(b) < 0)],
    compareTo: [method('semver_compare_to', two, t.intType, (a: Semver, b: Semver) => a.compare(b))],
    major: [method('semver_major', [semverType], t.intType, part(0))],
    minor: [method('semver_minor', [semverType], t.intType, part(1))],
    patch: [method('semver_patch', [semverType], t.intType, part(2))],
  },
};
