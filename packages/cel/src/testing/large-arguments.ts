/** For each type of a parameter: large values that a request has room for, chosen to be slow in one function or another. */

import { formatType } from '../types.ts';
import type { Type } from '../types.ts';

/** Characters that a body of three megabytes has room for. */
const length = 1_000_000;
const repeated = (text: string): string => text.repeat(Math.floor(length / text.length));

const texts: readonly string[] = [
  repeated('a'),
  repeated('aB '),
  repeated('1.'),
  repeated('1:'),
  repeated('1s'),
  repeated('ü"\\'),
  repeated('😀'),
  repeated(' '),
  repeated('9'),
  `1.2.3-${repeated('1.')}1`,
  `1.2.3-${repeated('a1.')}a`,
  `http://a${repeated('.b')}:80/?${repeated('x=%41&')}`,
  `/?${repeated('a&')}`,
  `0.${repeated('0')}1Gi`,
  `2024-01-01T00:00:00.${repeated('1')}Z`,
  repeated('QUJD'),
];

/** Arguments besides the first: patterns, separators, zones. */
const parts: readonly string[] = [
  'a',
  '',
  `${'a'.repeat(400_000)}b`,
  '(a+)+$',
  '(a?){500}a{500}$',
  '(?i)[\\p{L}0-9]*x.*y',
  '((a{30}){30})*b',
  '%s%d%.999f',
  'Europe/Berlin',
];

const numbers = [0, 1, 2, 1_000_000, 9_007_199_254_740_991];
const list = <Value>(make: (index: number) => Value): Value[] =>
  Array.from({ length: 100_000 }, (_, index) => make(index));

/** An expression over the variable `$`, whose value is the JSON beside it. */
export interface Argument {
  readonly source: string;
  readonly value: unknown;
}

const given = (value: unknown): Argument => ({ source: '$', value });
const literal = (source: string): Argument => ({ source, value: null });

/** JSON for a list of such elements. */
function elements(type: Type): Argument[] {
  switch (type.kind) {
    case 'int':
      return [given(list((index) => index)), given(list(() => 1))];
    case 'uint':
      return [literal('lists.range(100000).map(x, uint(x))')];
    case 'double':
      return [given(list((index) => index + 0.5))];
    case 'bool':
      return [given(list(() => true))];
    case 'duration':
      return [literal("lists.range(50000).map(x, duration('1s'))")];
    case 'timestamp':
      return [literal('lists.range(50000).map(x, timestamp(x))')];
    case 'bytes':
      return [literal("lists.range(50000).map(x, b'abc')")];
    case 'list':
      return [given(list(() => [1, 2, 3])), literal('lists.range(2000).map(x, lists.range(2000))')];
    case 'opaque':
      return [literal('lists.range(50000).map(x, optional.of(x))')];
    default:
      return [
        given(list(() => 'abc')),
        given(list((index) => ({ a: index, b: [index] }))),
        given(list((index) => `${index}`)),
      ];
  }
}

/** Expressions of a type: large ones for the first argument of a function, telling ones for the others. */
export function argumentsOf(type: Type, isFirst: boolean): readonly Argument[] {
  const key = `${formatType(type)} ${isFirst}`;
  let found = made.get(key);
  if (found === undefined) made.set(key, (found = makeArguments(type, isFirst)));
  return found;
}

const made = new Map<string, readonly Argument[]>();

function makeArguments(type: Type, isFirst: boolean): readonly Argument[] {
  switch (type.kind) {
    case 'string':
      return isFirst ? texts.map(given) : parts.map(given);
    case 'int':
      return numbers.map((number) => literal(String(number)));
    case 'uint':
      return [literal('7u')];
    case 'double':
      return [literal('1.5'), literal('5e-324')];
    case 'bool':
      return [literal('true')];
    case 'bytes':
      return [{ source: 'bytes($)', value: repeated('ab') }];
    case 'timestamp':
      return [literal("timestamp('2024-01-01T00:00:00Z')")];
    case 'duration':
      return [literal("duration('90s')")];
    case 'list':
      return elements(type.element);
    case 'map':
      return [given(Object.fromEntries(list((index) => [`k${index}`, index])))];
    case 'opaque':
      return opaques[type.name] ?? [literal('optional.of(1)')];
    default:
      return [given(texts[0]), given(list((index) => ({ a: index }))), literal('1')];
  }
}

const text = (source: string, value: string): Argument => ({ source, value });
const opaques: Readonly<Record<string, Argument[]>> = {
  'kubernetes.URL': [text('url($)', `http://a${'.b'.repeat(100_000)}/?${'x=%41&'.repeat(200_000)}`)],
  'kubernetes.Quantity': [literal("quantity('1.5Gi')"), text('quantity($)', `${'9'.repeat(1_900)}`)],
  'kubernetes.Semver': [text('semver($)', `1.2.3-${'1.'.repeat(500_000)}1`)],
  'kubernetes.NamedFormat': [
    literal('format.uri()'),
    literal('format.byte()'),
    literal('format.dns1123Subdomain()'),
    literal('format.qualifiedName()'),
  ],
  'net.IP': [literal("ip('::1')"), literal("ip('10.0.0.1')")],
  'net.CIDR': [literal("cidr('10.0.0.0/8')"), literal("cidr('::/0')")],
  'kubernetes.authorization.Authorizer': [literal('authorizer')],
  'kubernetes.authorization.PathCheck': [literal("authorizer.path('/a')")],
  'kubernetes.authorization.GroupCheck': [literal("authorizer.group('a')")],
  'kubernetes.authorization.ResourceCheck': [literal("authorizer.group('a').resource('b')")],
  'kubernetes.authorization.Decision': [literal("authorizer.path('/a').check('get')")],
};
