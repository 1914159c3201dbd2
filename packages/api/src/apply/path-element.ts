/**
 * One step of a path in `fieldsV1`, as its canonical text:
 *
 *   `f:<name>`             a field of a struct or a key of a map
 *   `k:{"name":"nginx"}`   the item of a list that has these keys; keys sorted by name
 *   `v:"a"`                the item of a set
 *   `i:0`                  an index; read but never written
 *
 * Equal elements have equal texts, so elements are compared, looked up and stored as texts. Their order is not that of the texts: see
 * `compareElements`.
 */

import { quote } from '../status/field-error.ts';
import { isObject } from '../object.ts';
import type { MergeType, ListMerge } from './merge-type.ts';
import { goFloat, goJson, own } from './values.ts';

export const fieldElement = (name: string): string => `f:${name}`;

/** A list's item without a unique identity. */
export class ElementError extends Error {}

/** Returns the element of an item of a list that is not atomic. Throws ElementError. */
export function itemElement(list: ListMerge, item: unknown): string {
  return list.keys.length > 0 ? keyElement(list, item) : valueElement(item);
}

function keyElement(list: ListMerge, item: unknown): string {
  if (item === null || item === undefined) {
    throw new ElementError('associative list with keys may not have a null element');
  }
  if (!isObject(item)) throw new ElementError('associative list with keys may not have non-map elements');
  let text = '';
  for (const key of sortedKeysOf(list)) {
    const value = own(item, key) ?? (Object.hasOwn(item, key) ? null : keyDefault(list.element, key));
    // An item without the key differs from one that has it.
    if (value === undefined) continue;
    text += `${text === '' ? '' : ','}${quotedName(key)}:${goJson(value)}`;
  }
  if (text === '') {
    const keys = `[${list.keys.map(quote).join(' ')}]`;
    throw new ElementError(
      `associative list with keys has an element that omits all key fields ${keys} (and doesn't have default values for any key fields)`,
    );
  }
  return `k:{${text}}`;
}

const keyDefault = (element: MergeType, key: string): unknown => {
  if (!element.map) {
    throw new ElementError(`couldn't find default value for ${key}: associative list may not have non-map types`);
  }
  return element.map.field(key)?.default ?? undefined;
};

const sortedKeys = new WeakMap<ListMerge, readonly string[]>();

function sortedKeysOf(list: ListMerge): readonly string[] {
  if (list.keys.length === 1) return list.keys;
  let keys = sortedKeys.get(list);
  if (!keys) {
    keys = list.keys.toSorted(compareUtf8);
    sortedKeys.set(list, keys);
  }
  return keys;
}

const plainName = /^[A-Za-z0-9_.-]*$/;
const quotedName = (name: string): string => (plainName.test(name) ? `"${name}"` : JSON.stringify(name));

function valueElement(item: unknown): string {
  if (Array.isArray(item)) throw new ElementError('not supported: associative list with lists as elements');
  if (isObject(item)) throw new ElementError("associative list without keys has an element that's a map type");
  if (item === null || item === undefined) {
    throw new ElementError("associative list without keys has an element that's an explicit null");
  }
  return `v:${goJson(item)}`;
}

type ParsedElement =
  | { readonly kind: 'k'; readonly fields: readonly (readonly [name: string, value: unknown])[] }
  | { readonly kind: 'v'; readonly value: unknown }
  | { readonly kind: 'i'; readonly index: number };

const parsedMax = 4096;
const parsed = new Map<string, ParsedElement>();

/** Parses elements of every kind except `f`. Throws if the text is malformed; returns undefined if its kind is unknown. */
function parse(element: string): ParsedElement | undefined {
  const known = parsed.get(element);
  if (known) return known;
  const found = parseAnew(element);
  if (found) {
    if (parsed.size >= parsedMax) parsed.clear();
    parsed.set(element, found);
  }
  return found;
}

function parseAnew(element: string): ParsedElement | undefined {
  const text = element.slice(2);
  switch (element[0]) {
    case 'k': {
      const object = JSON.parse(text) as unknown;
      if (!isObject(object)) throw new ElementError(`expected an object: ${element}`);
      return { kind: 'k', fields: Object.entries(object).sort(([a], [b]) => compareUtf8(a, b)) };
    }
    case 'v':
      return { kind: 'v', value: JSON.parse(text) as unknown };
    case 'i':
      if (!/^[+-]?\d+$/.test(text)) throw new ElementError(`strconv.Atoi: parsing ${quote(text)}: invalid syntax`);
      return { kind: 'i', index: Number(text) };
    default:
      return undefined;
  }
}

/** Returns the canonical text; undefined if its kind is unknown and it is ignored. Throws if it is malformed. */
export function canonicalElement(text: string): string | undefined {
  if (text.length < 2) throw new ElementError('key must be 2 characters long:');
  if (text[1] !== ':') throw new ElementError(`missing colon: ${text}`);
  if (text[0] === 'f') return text;
  const element = parse(text);
  switch (element?.kind) {
    case 'k':
      return `k:{${element.fields.map(([name, value]) => `${JSON.stringify(name)}:${goJson(value)}`).join(',')}}`;
    case 'v':
      return `v:${goJson(element.value)}`;
    case 'i':
      return `i:${element.index}`;
    default:
      return undefined;
  }
}

/** Keys and values known to be canonical; the same few occur repeatedly. */
const canonicalTexts = new Set<string>();

export function isCanonicalElement(text: string): boolean {
  if (text.charCodeAt(1) !== colon) return false;
  if (text.charCodeAt(0) === letterF || canonicalTexts.has(text)) return true;
  if (canonicalElement(text) !== text) return false;
  if (canonicalTexts.size >= parsedMax) canonicalTexts.clear();
  canonicalTexts.add(text);
  return true;
}

const colon = 0x3a;
const letterF = 0x66;

const ranks: Readonly<Record<string, number>> = { f: 0, k: 1, v: 2, i: 3 };

/** Fields, then keys, then values, then indices, as Go's fieldpath sorts them. */
export function compareElements(a: string, b: string): number {
  if (a === b) return 0;
  const kind = a.charCodeAt(0);
  if (kind !== b.charCodeAt(0)) return ranks[a[0]!]! - ranks[b[0]!]!;
  return kind === letterF ? compareUtf8(a, b) : compareParsed(parse(a)!, parse(b)!);
}

/** Returns the positions of the elements in sorted order; undefined when they are sorted. Parses each element once. */
export function orderOf(elements: readonly string[]): number[] | undefined {
  if (elements.length < 2) return undefined;
  const texts = comparableTexts(elements);
  const read = elements.length > parsedMax ? parseAnew : parse;
  const parsed = texts ? undefined : elements.map((text) => (text.charCodeAt(0) === letterF ? undefined : read(text)));
  const compare = (i: number, j: number): number => {
    if (texts) return compareUtf8(texts[i]!, texts[j]!);
    const [a, b] = [parsed![i], parsed![j]];
    return a && b && a.kind === b.kind ? compareParsed(a, b) : compareElements(elements[i]!, elements[j]!);
  };
  let isOrdered = true;
  for (let i = 1; i < elements.length && isOrdered; i++) isOrdered = compare(i - 1, i) < 0;
  return isOrdered ? undefined : Array.from(elements.keys()).sort(compare);
}

const oneTextKey = /^k:\{"[^"\\]*":"|^v:"/;

/** Returns texts that sort like the elements: of fields, and of items with one string key without escapes. Undefined for others. */
function comparableTexts(elements: readonly string[]): readonly string[] | undefined {
  if (elements.every((element) => element.charCodeAt(0) === letterF)) return elements;
  const prefix = oneTextKey.exec(elements[0]!)?.[0];
  if (prefix === undefined) return undefined;
  const end = prefix.startsWith('k') ? '"}' : '"';
  const texts: string[] = [];
  for (const element of elements) {
    const text = element.slice(prefix.length, -end.length);
    if (!element.startsWith(prefix) || !element.endsWith(end) || text.includes('"') || text.includes('\\'))
      return undefined;
    texts.push(text);
  }
  return texts;
}

function compareParsed(a: ParsedElement, b: ParsedElement): number {
  if (a.kind === 'k' && b.kind === 'k') return compareKeys(a.fields, b.fields);
  if (a.kind === 'v' && b.kind === 'v') return compareValues(a.value, b.value);
  return a.kind === 'i' && b.kind === 'i' ? a.index - b.index : 0;
}

type KeyFields = Extract<ParsedElement, { kind: 'k' }>['fields'];

function compareKeys(a: KeyFields, b: KeyFields): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = compareUtf8(a[i]![0], b[i]![0]) || compareValues(a[i]![1], b[i]![1]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

const typeOrder: Readonly<Record<string, number>> = { number: 0, string: 1, boolean: 2, object: 3 };

/** Containers never identify items: null is last, others count as equal. */
function compareValues(a: unknown, b: unknown): number {
  const order = typeOrder[typeof a]! - typeOrder[typeof b]!;
  if (order !== 0) return order;
  if (typeof a === 'string') return compareUtf8(a, b as string);
  if (typeof a === 'object') return compareUtf8(goJson(a), goJson(b));
  return Number(a) - Number(b);
}

/** Compares in the order of the bytes in UTF-8. UTF-16 differs where one text has a surrogate and the other is above them. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return isSurrogate(x) === isSurrogate(y) ? x - y : isSurrogate(x) ? 1 : -1;
  }
  return a.length - b.length;
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;

/** Formats an element as conflicts show it: `.spec`, `[name="nginx"]`, `[="a"]`. */
export function showElement(element: string): string {
  if (element[0] === 'f') return `.${element.slice(2)}`;
  const found = parse(element)!;
  switch (found.kind) {
    case 'k':
      return `[${found.fields.map(([name, value]) => `${name}=${showValue(value)}`).join(',')}]`;
    case 'v':
      return `[=${showValue(found.value)}]`;
    case 'i':
      return `[${found.index}]`;
  }
}

function showValue(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return goFloat(value);
  if (Array.isArray(value)) return `[${value.map(showValue).join(',')}]`;
  if (!isObject(value)) return String(value);
  return Object.entries(value)
    .map(([key, one]) => `${key}=${showValue(one)}`)
    .join('');
}
