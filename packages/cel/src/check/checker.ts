/**
 * The type checker: deduces the type of every node, selects the possible overloads of a call and writes both into the tree. It reports all
 * problems, each once: an expression with a problem has the type `error`, which is assignable to every type.
 *
 * In lenient mode (expressions that must run without declarations) a problem becomes a `fault` of its node instead: it only shows when that
 * node is evaluated.
 */

import { issuesMax } from '../limits.ts';
import type { Environment, Overload } from '../environment.ts';
import type { Call, Comprehension, Expr, Ident, ListExpr, MapExpr, Select, StructExpr } from '../syntax/ast.ts';
import type { Problem } from '../syntax/source.ts';
import * as t from '../types.ts';
import { work } from '../work.ts';
import type { Type } from '../types.ts';
import { constantType } from './constant-type.ts';
import { firstName, qualifiedName, Scope } from './scope.ts';
import { allAssignable, assignable, Bindings, moreGeneral, sameType, substitute } from './substitution.ts';

/** Annotates the tree and returns the problems; none means that every node has a type. */
export function check(root: Expr, environment: Environment, lenient = false): Problem[] {
  const checker = new Checker(environment, lenient);
  checker.check(root);
  checker.finish();
  return checker.problems;
}

const nsPerNode = 500;

class Checker {
  readonly problems: Problem[] = [];
  readonly #environment: Environment;
  readonly #lenient: boolean;
  readonly #scope: Scope;
  readonly #bindings = new Bindings();
  readonly #typed = new Set<Expr>();
  #freshParams = 0;
  #homogeneous: boolean;

  constructor(environment: Environment, lenient: boolean) {
    this.#environment = environment;
    this.#lenient = lenient;
    this.#homogeneous = environment.homogeneousLiterals;
    this.#scope = new Scope(environment);
  }

  /** Bound type parameters become their types, free ones `dyn`. */
  finish(): void {
    for (const node of this.#typed) node.type = substitute(this.#bindings, node.type!, true);
  }

  check(node: Expr): Type {
    work(nsPerNode);
    const type = substitute(this.#bindings, this.#deduce(node), false);
    node.type = type;
    this.#typed.add(node);
    return type;
  }

  #deduce(node: Expr): Type {
    switch (node.kind) {
      case 'const':
        return constantType(node.value);
      case 'ident':
        return this.#ident(node);
      case 'select':
        return this.#select(node);
      case 'call':
        return this.#call(node);
      case 'list':
        return this.#list(node);
      case 'map':
        return this.#map(node);
      case 'struct':
        return this.#struct(node);
      case 'comprehension':
        return this.#comprehension(node);
    }
  }

  #problem(node: Expr, message: string, offset = node.offset): Type {
    if (this.#lenient) {
      node.fault ??= message;
      return t.dynType;
    }
    if (this.problems.length < issuesMax) this.problems.push({ offset, message });
    return t.errorType;
  }

  #undeclared(node: Expr, name: string): Type {
    return this.#problem(node, `undeclared reference to '${name}' (in container '${this.#environment.container}')`);
  }

  #ident(node: Ident): Type {
    const local = this.#scope.local(node.name);
    if (local !== undefined) return local;
    const declared = this.#scope.declared(node.name);
    if (declared === undefined) return this.#undeclared(node, node.name);
    node.resolved = declared.name;
    return declared.type;
  }

  #select(node: Select): Type {
    // `a.b.c` may be one variable's name, unless `a` is a comprehension's variable.
    const name = node.testOnly ? undefined : qualifiedName(node);
    if (name !== undefined && this.#scope.local(firstName(node)!) === undefined) {
      const declared = this.#scope.declared(name);
      if (declared !== undefined) {
        node.resolved = declared.name;
        return declared.type;
      }
    }
    const type = this.#field(node, this.check(node.operand), node.field, false);
    return node.testOnly ? t.boolType : type;
  }

  #field(node: Expr, operand: Type, field: string, optional: boolean): Type {
    const target = substitute(this.#bindings, operand, false);
    switch (target.kind) {
      case 'map':
        return target.value;
      case 'object':
        return target.fields.get(field)?.type ?? this.#problem(node, `undefined field '${field}'`);
      case 'opaque':
        if (t.isOptional(target)) {
          const inner = this.#field(node, target.params[0]!, field, optional);
          return optional ? inner : t.optionalOf(inner);
        }
        break;
      case 'dyn':
      case 'error':
      case 'param':
        return t.dynType;
    }
    return this.#problem(node, `type '${t.shownType(target)}' does not support field selection`);
  }

  #call(node: Call): Type {
    if (node.fn === '_?._') return this.#optionalSelect(node);
    if (node.target !== undefined) {
      // `math.ceil(x)`: a function with a dotted name, unless `math` is a comprehension's variable.
      const prefix = qualifiedName(node.target);
      if (prefix !== undefined && this.#scope.local(firstName(node.target)!) === undefined) {
        const name = this.#scope.functionName(`${prefix}.${node.fn}`);
        if (name !== undefined) {
          node.fn = name;
          node.target = undefined;
        }
      }
    }
    // Arguments of `format` may have several types, even where literals otherwise must have one.
    const homogeneous = this.#homogeneous;
    if (node.fn === 'format') this.#homogeneous = false;
    const types = (node.target === undefined ? node.args : [node.target, ...node.args]).map((arg) => this.check(arg));
    this.#homogeneous = homogeneous;
    const name = node.target === undefined ? this.#scope.functionName(node.fn) : node.fn;
    const overloads = name === undefined ? undefined : this.#environment.functions.get(name);
    if (overloads === undefined) return this.#undeclared(node, node.fn);
    node.fn = name!;
    return this.#resolve(node, overloads, types);
  }

  #optionalSelect(node: Call): Type {
    const [operand, field] = node.args as [Expr, Expr];
    const type = this.check(operand);
    this.check(field);
    node.overloads = ['select_optional_field'];
    const name = field.kind === 'const' ? String(field.value) : '';
    const result = this.#field(node, type, name, true);
    return t.isOptional(result) ? result : t.optionalOf(result);
  }

  #resolve(node: Call, overloads: readonly Overload[], types: readonly Type[]): Type {
    const member = node.target !== undefined;
    const ids: string[] = [];
    let result: Type | undefined;
    for (const overload of overloads) {
      if (overload.member !== member || overload.params.length !== types.length) continue;
      const [params, returns] = this.#instantiate(overload);
      if (!allAssignable(this.#bindings, params, types)) continue;
      ids.push(overload.id);
      const type = substitute(this.#bindings, returns, false);
      if (result === undefined) result = type;
      else if (!t.isDyn(result) && !sameType(result, type)) result = t.dynType;
    }
    node.overloads = ids;
    if (result !== undefined) return result;
    if (this.#lenient) return t.dynType;
    if (types.some((type) => type.kind === 'error')) return t.errorType;
    if (node.fn === '_&&_' || node.fn === '_||_') return this.#notBool(node, types);
    const shown = types.map((type) => t.shownType(substitute(this.#bindings, type, true)));
    const applied = member ? `${shown[0]!}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`;
    return this.#problem(node, `found no matching overload for '${node.fn}' applied to '${applied}'`);
  }

  #notBool(node: Call, types: readonly Type[]): Type {
    for (const [index, type] of types.entries()) {
      if (type.kind === 'bool' || t.isDyn(type)) continue;
      const argument = node.args[index]!;
      this.#problem(argument, `expected type 'bool' but found '${t.shownType(type)}'`);
    }
    return t.boolType;
  }

  /** Returns an overload with its own type parameters, so that two calls do not share bindings. */
  #instantiate(overload: Overload): [readonly Type[], Type] {
    const names = paramsOf(overload);
    if (names.size === 0) return [overload.params, overload.result];
    const fresh = new Bindings();
    for (const name of names) fresh.set(name, this.#freshParam());
    return [overload.params.map((type) => substitute(fresh, type, false)), substitute(fresh, overload.result, false)];
  }

  #freshParam(): Type {
    return t.param(`_var${this.#freshParams++}`);
  }

  #list(node: ListExpr): Type {
    let element: Type | undefined;
    for (const { value, optional } of node.elements) {
      const type = this.check(value);
      element = this.#join(value, element, optional ? this.#unwrapOptional(value, type) : type);
    }
    return t.listOf(element ?? this.#freshParam());
  }

  #map(node: MapExpr): Type {
    let key: Type | undefined;
    let value: Type | undefined;
    for (const entry of node.entries) {
      key = this.#join(entry.key, key, this.check(entry.key));
      const type = this.check(entry.value);
      value = this.#join(entry.value, value, entry.optional ? this.#unwrapOptional(entry.value, type) : type);
    }
    return t.mapOf(key ?? this.#freshParam(), value ?? this.#freshParam());
  }

  #unwrapOptional(node: Expr, type: Type): Type {
    if (t.isOptional(type)) return type.params[0]!;
    if (t.isDyn(type) || type.kind === 'param') return t.dynType;
    return this.#problem(node, `expected type 'optional_type(${t.shownType(type)})' but found '${t.shownType(type)}'`);
  }

  /** Returns the common type of a literal's elements so far and one more. */
  #join(node: Expr, previous: Type | undefined, next: Type): Type {
    if (previous === undefined) return next;
    if (assignable(this.#bindings, previous, next)) {
      const [a, b] = [substitute(this.#bindings, previous, false), substitute(this.#bindings, next, false)];
      return moreGeneral(a, b) ? a : b;
    }
    if (!this.#homogeneous) return t.dynType;
    return this.#problem(node, `expected type '${t.shownType(previous)}' but found '${t.shownType(next)}'`);
  }

  #struct(node: StructExpr): Type {
    for (const field of node.fields) this.check(field.value);
    const declared = this.#scope.declared(node.name)?.type ?? this.#environment.structType(node.name);
    if (declared === undefined) return this.#undeclared(node, node.name);
    const type = declared.kind === 'type' ? declared.of : declared;
    if (type.kind !== 'object') return this.#problem(node, `'${node.name}' is not a message type`);
    for (const { name, value, optional, offset } of node.fields) {
      const field = type.fields.get(name)?.type;
      if (field === undefined) {
        this.#problem(node, `undefined field '${name}'`, offset);
        continue;
      }
      const given = optional ? this.#unwrapOptional(value, value.type!) : value.type!;
      if (!assignable(this.#bindings, field, given)) {
        const message = `expected type of field '${name}' is '${t.shownType(field)}' but provided type is '${t.shownType(given)}'`;
        this.#problem(node, message, offset);
      }
    }
    return type;
  }

  #comprehension(node: Comprehension): Type {
    const range = substitute(this.#bindings, this.check(node.range), false);
    const accumulated = this.check(node.accuInit);
    const [first, second] = this.#iterated(node, range);
    return this.#scope.within(node.accuVar, accumulated, () => {
      this.#scope.within(node.iterVar, first, () => {
        const body = () => {
          this.#expect(node.condition, t.boolType);
          this.#expect(node.step, accumulated);
        };
        if (node.iterVar2 === undefined) body();
        else this.#scope.within(node.iterVar2, second, body);
      });
      return this.check(node.result);
    });
  }

  /** Types of the iteration variables: element; key; index and element; key and value. */
  #iterated(node: Comprehension, range: Type): [Type, Type] {
    const two = node.iterVar2 !== undefined;
    switch (range.kind) {
      case 'list':
        return two ? [t.intType, range.element] : [range.element, t.dynType];
      case 'map':
        return [range.key, range.value];
      case 'dyn':
      case 'error':
      case 'param':
        if (range.kind === 'param') assignable(this.#bindings, range, t.dynType);
        return [t.dynType, t.dynType];
      default: {
        const message = `expression of type '${t.shownType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
        const type = this.#problem(node.range, message);
        return [type, type];
      }
    }
  }

  #expect(node: Expr, wanted: Type): void {
    const type = this.check(node);
    if (assignable(this.#bindings, wanted, type)) return;
    this.#problem(node, `expected type '${t.shownType(wanted)}' but found '${t.shownType(type)}'`);
  }
}

const overloadParams = new WeakMap<Overload, ReadonlySet<string>>();

/** Names of an overload's type parameters, computed once. */
function paramsOf(overload: Overload): ReadonlySet<string> {
  let names = overloadParams.get(overload);
  if (names === undefined) {
    const found = new Set<string>();
    for (const type of [...overload.params, overload.result]) collectParams(type, found);
    names = found;
    overloadParams.set(overload, names);
  }
  return names;
}

function collectParams(type: Type, names: Set<string>): void {
  switch (type.kind) {
    case 'param':
      names.add(type.name);
      break;
    case 'list':
      collectParams(type.element, names);
      break;
    case 'map':
      collectParams(type.key, names);
      collectParams(type.value, names);
      break;
    case 'type':
      collectParams(type.of, names);
      break;
    case 'opaque':
      for (const param of type.params) collectParams(param, names);
  }
}
