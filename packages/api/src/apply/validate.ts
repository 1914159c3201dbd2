/** Checks an applied configuration against its type. The messages are those of kube-apiserver, including Go's `%v` and `%#v`. */

import { isObject } from '../object.ts';
import type { ListMerge, MapMerge, MergeType } from './merge-type.ts';
import { ElementError, itemElement, showElement } from './path-element.ts';
import { quote } from '../status/field-error.ts';
import { goFloat } from './values.ts';
import { sortKeys } from '../values/key-order.ts';

/** Problems as texts with their paths: `.spec.foo: field not declared in schema`. */
export function validatePatch(type: MergeType, value: unknown): string[] {
  const problems: string[] = [];
  check(type, value, '', problems);
  return problems;
}

/** All of them in one text, as kube-apiserver joins them. */
export const problemsText = (problems: readonly string[]): string =>
  problems.length === 1 ? problems[0]! : ['errors:', ...problems.map((problem) => `  ${problem}`)].join('\n');

const at = (path: string, message: string): string => (path === '' ? message : `${path}: ${message}`);

function check(type: MergeType, value: unknown, path: string, problems: string[]): void {
  if (value === null || value === undefined) return;
  switch (type.alternativeOf(value)) {
    case 'scalar': {
      const problem = scalarProblem(type, value);
      if (problem !== undefined) problems.push(at(path, problem));
      return;
    }
    case 'map':
      if (!isObject(value)) problems.push(at(path, `expected map, got &{${goV(value)}}`));
      else checkKeys(type.map!, value, path, problems);
      return;
    case 'list':
      if (!Array.isArray(value)) problems.push(at(path, `expected list, got &{${goV(value)}}`));
      else checkItems(type.list!, value, path, problems);
  }
}

function scalarProblem({ scalar }: MergeType, value: unknown): string | undefined {
  switch (scalar) {
    case 'numeric':
      return typeof value === 'number' ? undefined : `expected numeric (int or float), got ${goType(value)}`;
    case 'string':
      return typeof value === 'string'
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${goSharpV(value)}}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got &{${goV(value)}}`;
    default:
      return typeof value === 'object' ? `expected any scalar, got &{${goV(value)}}` : undefined;
  }
}

function checkKeys(map: MapMerge, object: Readonly<Record<string, unknown>>, path: string, problems: string[]): void {
  for (const key of Object.keys(object)) {
    const type = map.typeOf(key);
    if (!type) {
      problems.push(at(`${path}.${key}`, 'field not declared in schema'));
      return;
    }
    const value = object[key];
    // Most values are valid; paths are only created for the others.
    if (type.scalar !== undefined && typeof value !== 'object' && scalarProblem(type, value) === undefined) continue;
    check(type, value, `${path}.${key}`, problems);
  }
}

function checkItems(list: ListMerge, items: readonly unknown[], path: string, problems: string[]): void {
  const seen = new Set<string>();
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    let element = `i:${i}`;
    if (!list.isAtomic) {
      try {
        element = itemElement(list, item);
      } catch (error) {
        if (!(error instanceof ElementError)) throw error;
        problems.push(at(path, `element ${i}: ${error.message}`));
        return;
      }
      if (seen.has(element)) problems.push(at(path, `duplicate entries for key ${showElement(element)}`));
      seen.add(element);
    }
    if (
      typeof item === 'object' ||
      list.element.scalar === undefined ||
      scalarProblem(list.element, item) !== undefined
    ) {
      check(list.element, item, path + showElement(element), problems);
    }
  }
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isObject(value)) return 'map[string]interface {}';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

const goNumber = (value: number): string => (Number.isInteger(value) ? String(value) : goFloat(value));

/** A value of decoded JSON as Go's `%v` shows it. */
function goV(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value === 'number') return goNumber(value);
  if (Array.isArray(value)) return `[${value.map(goV).join(' ')}]`;
  if (!isObject(value)) return String(value);
  return `map[${sortKeys(Object.keys(value))
    .map((key) => `${key}:${goV(value[key])}`)
    .join(' ')}]`;
}

/** And as `%#v` does. */
function goSharpV(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (typeof value === 'number') return goNumber(value);
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSharpV).join(', ')}}`;
  if (!isObject(value)) return String(value);
  return `map[string]interface {}{${sortKeys(Object.keys(value))
    .map((key) => `${quote(key)}:${goSharpV(value[key])}`)
    .join(', ')}}`;
}
