/**
 * A JSON document that a patch changes step by step. The original is never touched: a container is copied the first time that it is written
 * to, and only then, so that ten thousand operations on one large list copy it once.
 *
 * Pointers are read as kube-apiserver does, which is laxer than RFC 6901: text before the first slash is ignored, and `-1` is a list's last
 * element.
 */

import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';
import { unprocessable } from './errors.ts';
import { get, has, put, remove } from './record.ts';

type Container = JsonObject | unknown[];

/** Elements that insertions and removals may shift, all operations together: keeps a hostile patch within a second. */
const shiftedElementsMax = 100_000_000;

export class JsonDocument {
  #root: Container;
  /** Containers that belong to this document alone and may be changed in place. */
  readonly #owned = new Set<Container>();
  #shifted = 0;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  get root(): Container {
    return this.#root;
  }

  replaceRoot(value: unknown): void {
    if (!isContainer(value)) throw unprocessable('the whole document can only be replaced by an object or a list');
    this.#root = value;
  }

  /** Returns undefined if an object has no such key. */
  read(pointer: string): unknown {
    const tokens = tokensOf(pointer);
    const key = tokens.pop()!;
    let at: unknown = this.#root;
    for (const token of tokens) at = element(this.#container(at, pointer), token);
    return element(this.#container(at, pointer), key);
  }

  add(pointer: string, value: unknown): void {
    const { container, key } = this.#open(pointer);
    if (!Array.isArray(container)) return put(container, key, value);
    const at = key === '-' ? container.length : indexOf(key, container.length + 1);
    if (at === container.length) container.push(value);
    else {
      this.#countShift(container.length - at);
      container.splice(at, 0, value);
    }
  }

  /** Adds the key where an object has none, as kube-apiserver does. */
  replace(pointer: string, value: unknown): void {
    const { container, key } = this.#open(pointer);
    if (Array.isArray(container)) container[indexOf(key, container.length)] = value;
    else put(container, key, value);
  }

  remove(pointer: string): void {
    const { container, key } = this.#open(pointer);
    if (Array.isArray(container)) {
      const at = indexOf(key, container.length);
      this.#countShift(container.length - at);
      container.splice(at, 1);
    } else {
      if (!has(container, key)) throw unprocessable(`there is no ${pointer} to remove`);
      remove(container, key);
    }
  }

  /** Returns the container of a pointer's last token, ready to be written to. */
  #open(pointer: string): { container: Container; key: string } {
    const tokens = tokensOf(pointer);
    const key = tokens.pop()!;
    let container = this.#own(this.#root);
    this.#root = container;
    for (const token of tokens) {
      const inner = this.#own(this.#container(element(container, token), pointer));
      if (Array.isArray(container)) container[indexOf(token, container.length)] = inner;
      else put(container, token, inner);
      container = inner;
    }
    return { container, key };
  }

  #own(container: Container): Container {
    if (this.#owned.has(container)) return container;
    const copy = Array.isArray(container) ? [...container] : { ...container };
    this.#owned.add(copy);
    return copy;
  }

  #container(value: unknown, pointer: string): Container {
    if (!isContainer(value)) throw unprocessable(`the document has no path ${pointer}`);
    return value;
  }

  #countShift(elements: number): void {
    this.#shifted += elements;
    if (this.#shifted > shiftedElementsMax) throw unprocessable('the patch moves too many list elements');
  }
}

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;

function tokensOf(pointer: string): string[] {
  const tokens = pointer.split('/');
  if (tokens.length < 2) throw unprocessable(`a path must have a slash: ${pointer}`);
  return tokens.slice(1).map((token) => (token.includes('~') ? token.replace(/~[01]/g, unescapeOne) : token));
}

const unescapeOne = (escape: string): string => (escape === '~1' ? '/' : '~');

function element(container: Container, key: string): unknown {
  return Array.isArray(container) ? container[indexOf(key, container.length)] : get(container, key);
}

/** `length` is the number of positions; negative indices count from the end. */
function indexOf(key: string, length: number): number {
  if (!/^[+-]?\d+$/.test(key)) throw unprocessable(`not an index of a list: ${key}`);
  const index = Number(key) < 0 ? Number(key) + length : Number(key);
  if (index < 0 || index >= length) throw unprocessable(`there is no index ${key}`);
  return index === 0 ? 0 : index;
}

/** Reports whether two values are equal. A patch may have nested them deeper than the parser allows. */
export function isSame(a: unknown, b: unknown, depthLeft: number): boolean {
  if (a === b) return true;
  if (!isContainer(a) || !isContainer(b)) return false;
  if (depthLeft === 0) throw tooDeep();
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((one, index) => isSame(one, b[index], depthLeft - 1));
  }
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => has(b, key) && isSame(a[key], b[key], depthLeft - 1));
}

/** A copy that shares nothing. */
export function clone(value: unknown, depthLeft: number): unknown {
  if (!isContainer(value)) return value;
  if (depthLeft === 0) throw tooDeep();
  if (Array.isArray(value)) return value.map((one) => clone(one, depthLeft - 1));
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) put(copy, key, clone(value[key], depthLeft - 1));
  return copy;
}

export function checkDepth(value: unknown, depthLeft: number): void {
  if (!isContainer(value)) return;
  if (depthLeft === 0) throw tooDeep();
  if (isObject(value)) for (const key of Object.keys(value)) checkDepth(value[key], depthLeft - 1);
  else for (const one of value) checkDepth(one, depthLeft - 1);
}

const tooDeep = (): Error => unprocessable('the patched document is nested too deeply');
