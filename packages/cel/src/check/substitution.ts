/**
 * Type parameters and their bindings. Assigning an argument's type to a parameter's may bind type parameters; a failed attempt is undone,
 * so overloads can be tried one after the other.
 */

import { dynType, isDyn, typeName } from '../types.ts';
import type { Type } from '../types.ts';
import { work } from '../work.ts';

/** Cost of one component of a type: shared components count each time, and may multiply. */
const nsPerType = 20;

/** Bindings of parameters, with a journal so that a failed attempt is undone without copying. */
export class Bindings {
  readonly #types = new Map<string, Type>();
  readonly #journal: { readonly name: string; readonly before: Type | undefined }[] = [];

  get(name: string): Type | undefined {
    return this.#types.get(name);
  }

  set(name: string, type: Type): void {
    this.#journal.push({ name, before: this.#types.get(name) });
    this.#types.set(name, type);
  }

  /** Runs the attempt; if it returns false, its bindings are undone. */
  attempt(run: () => boolean): boolean {
    const mark = this.#journal.length;
    if (run()) return true;
    while (this.#journal.length > mark) {
      const { name, before } = this.#journal.pop()!;
      if (before === undefined) this.#types.delete(name);
      else this.#types.set(name, before);
    }
    return false;
  }
}

/** Replaces bound parameters; free ones become `dyn` if `freeToDyn` is set. */
export function substitute(bindings: Bindings, type: Type, freeToDyn: boolean): Type {
  work(nsPerType);
  switch (type.kind) {
    case 'param': {
      const bound = bindings.get(type.name);
      if (bound !== undefined) return substitute(bindings, bound, freeToDyn);
      return freeToDyn ? dynType : type;
    }
    case 'list': {
      const element = substitute(bindings, type.element, freeToDyn);
      return element === type.element ? type : { ...type, element };
    }
    case 'map': {
      const key = substitute(bindings, type.key, freeToDyn);
      const value = substitute(bindings, type.value, freeToDyn);
      return key === type.key && value === type.value ? type : { ...type, key, value };
    }
    case 'opaque':
      if (type.params.length === 0) return type;
      return { ...type, params: type.params.map((param) => substitute(bindings, param, freeToDyn)) };
    case 'type': {
      const of = substitute(bindings, type.of, freeToDyn);
      return of === type.of ? type : { ...type, of };
    }
    default:
      return type;
  }
}

/** Reports whether a value of `source` is assignable to `target`; binds parameters of both. */
export function assignable(bindings: Bindings, target: Type, source: Type): boolean {
  return bindings.attempt(() => unify(bindings, target, source));
}

export function allAssignable(bindings: Bindings, targets: readonly Type[], sources: readonly Type[]): boolean {
  return bindings.attempt(() => targets.every((target, index) => unify(bindings, target, sources[index]!)));
}

function unify(bindings: Bindings, target: Type, source: Type): boolean {
  work(nsPerType);
  if (target === source) return true;
  if (target.kind === 'param') return bind(bindings, target.name, source, target);
  if (source.kind === 'param') return bind(bindings, source.name, target, source);
  if (isDyn(target) || isDyn(source)) return true;
  if (source.kind === 'null') return target.kind === 'null' || nullable(target);
  if (target.kind === 'null') return nullable(source);
  if (target.kind === 'wrapper') return unify(bindings, target.of, source.kind === 'wrapper' ? source.of : source);
  if (source.kind === 'wrapper') return unify(bindings, target, source.of);
  switch (target.kind) {
    case 'list':
      return source.kind === 'list' && unify(bindings, target.element, source.element);
    case 'map':
      return (
        source.kind === 'map' && unify(bindings, target.key, source.key) && unify(bindings, target.value, source.value)
      );
    case 'opaque':
      return (
        source.kind === 'opaque' &&
        source.name === target.name &&
        source.params.length === target.params.length &&
        target.params.every((param, index) => unify(bindings, param, source.params[index]!))
      );
    case 'object':
      return source.kind === 'object' && source.name === target.name;
    case 'type':
      return source.kind === 'type';
    default:
      return source.kind === target.kind;
  }
}

function nullable(type: Type): boolean {
  return ['object', 'wrapper', 'timestamp', 'duration', 'opaque'].includes(type.kind);
}

function bind(bindings: Bindings, name: string, type: Type, self: Type): boolean {
  const bound = bindings.get(name);
  if (bound !== undefined) {
    if (!unify(bindings, bound, type)) return false;
    // int then dyn: the parameter becomes the more general one.
    const substituted = substitute(bindings, bound, false);
    if (moreGeneral(type, substituted) && !(type.kind === 'param' && type.name === name)) bindings.set(name, type);
    return true;
  }
  const resolved = substitute(bindings, type, false);
  if (resolved.kind === 'param' && resolved.name === name) return true;
  if (mentions(resolved, name)) return false;
  bindings.set(name, self === type ? self : resolved);
  return true;
}

function mentions(type: Type, name: string): boolean {
  work(nsPerType);
  switch (type.kind) {
    case 'param':
      return type.name === name;
    case 'list':
      return mentions(type.element, name);
    case 'map':
      return mentions(type.key, name) || mentions(type.value, name);
    case 'opaque':
      return type.params.some((param) => mentions(param, name));
    case 'type':
      return mentions(type.of, name);
    default:
      return false;
  }
}

/** Reports whether `a` equals `b` or is more general: dyn over everything, a wrapper over its primitive, element by element. */
export function moreGeneral(a: Type, b: Type): boolean {
  work(nsPerType);
  if (isDyn(a) || a.kind === 'param') return true;
  if (isDyn(b) || b.kind === 'param') return false;
  if (b.kind === 'null' && nullable(a)) return true;
  if (a.kind === 'wrapper') return b.kind === 'wrapper' ? sameType(a.of, b.of) : sameType(a.of, b);
  if (a.kind === 'list' && b.kind === 'list') return moreGeneral(a.element, b.element);
  if (a.kind === 'map' && b.kind === 'map') return moreGeneral(a.key, b.key) && moreGeneral(a.value, b.value);
  if (a.kind === 'opaque' && b.kind === 'opaque') {
    return a.name === b.name && a.params.every((param, index) => moreGeneral(param, b.params[index] ?? dynType));
  }
  return sameType(a, b);
}

export function sameType(a: Type, b: Type): boolean {
  if (a === b) return true;
  work(nsPerType);
  if (a.kind !== b.kind) return false;
  switch (a.kind) {
    case 'list':
      return sameType(a.element, (b as typeof a).element);
    case 'map':
      return sameType(a.key, (b as typeof a).key) && sameType(a.value, (b as typeof a).value);
    case 'wrapper':
    case 'type':
      return sameType(a.of, (b as typeof a).of);
    case 'opaque': {
      const other = b as typeof a;
      return a.name === other.name && a.params.every((param, index) => sameType(param, other.params[index] ?? dynType));
    }
    default:
      return typeName(a) === typeName(b);
  }
}
