/**
 * Compiles the checked tree to closures. Each closure charges the cost of Kubernetes' interpreter: see `cost/`.
 *
 * Identifiers, selections and indexing form *attributes*: paths into variables. They are read as raw JSON all the way and adapted to a CEL
 * value only at the end; an attribute costs one unit for its base and one per step. As a branch of `?:` or as an index, the base is free.
 */

import { fail, Fault } from '../errors.ts';
import type { Environment } from '../environment.ts';
import { structCost } from '../cost/sizes.ts';
import type { Call, Expr, Select, StructExpr } from '../syntax/ast.ts';
import { dynType } from '../types.ts';
import type { Type } from '../types.ts';
import { adaptAny, adapter, untyped } from '../values/json.ts';
import type { Adapter } from '../values/json.ts';
import { Boxed, Optional, TypeValue } from '../values/values.ts';
import type { CelValue } from '../values/values.ts';
import { StructValue } from '../values/struct.ts';
import { isAttribute, isAttributeCall } from './attribute.ts';
import { constantValue } from './fold-constants.ts';
import type { Code, RawCode } from './frame.ts';
import { planCall } from './plan-call.ts';
import { planListLiteral, planMapLiteral } from './plan-literals.ts';
import { planLoop } from './plan-loop.ts';
import { allocate, entryBytes, nodeBytes, work } from '../work.ts';
import { findField, findIndex, getField, getIndex, hasField, propertyReader } from './select.ts';

const nsPerNode = 500;

interface Local {
  readonly name: string;
  readonly slot: number;
}

export class Planner {
  readonly environment: Environment;
  /** Variables of the expression, by slot. */
  readonly variables: string[] = [];
  readonly #locals: Local[] = [];
  #localCount = 0;
  #localsMost = 0;

  constructor(environment: Environment, variables: readonly string[]) {
    this.environment = environment;
    this.variables.push(...variables);
  }

  /** Number of slots of a frame. */
  get slotCount(): number {
    return this.variables.length + this.#localsMost;
  }

  plan(node: Expr): Code {
    work(nsPerNode);
    if (node.fault !== undefined) return this.#faulty(node.fault);
    const constant = constantValue(node, this.environment);
    if (constant !== undefined) return () => constant;
    switch (node.kind) {
      case 'const':
        return () => node.value;
      case 'ident':
      case 'select':
        return this.planAttribute(node, true);
      case 'call':
        return isAttributeCall(node) ? this.planAttribute(node, true) : planCall(this, node);
      case 'list':
        return planListLiteral(this, node);
      case 'map':
        return planMapLiteral(this, node);
      case 'struct':
        return this.#struct(node);
      case 'comprehension':
        return planLoop(this, node);
    }
  }

  /** Charges the attribute's base unless the base is free there. */
  planAttribute(node: Expr, chargeBase: boolean): Code {
    if (node.fault !== undefined) return this.#faulty(node.fault);
    if (!isAttribute(node)) return this.plan(node);
    if (node.kind === 'select' && node.testOnly) return this.#presence(node);
    const raw = this.raw(node, chargeBase);
    const adapt = this.#adapter(node);
    return (frame) => {
      const value = raw(frame);
      return typeof value === 'string' || value instanceof Boxed ? adaptBoxed(value, adapt) : adapt(value);
    };
  }

  #adapter(node: Expr): Adapter {
    const type = node.type ?? dynType;
    return untyped(type) ? adaptAny : adapter(type);
  }

  /** Returns the node's value without conversion if possible; else as a CEL value, which is equivalent. */
  raw(node: Expr, chargeBase: boolean): RawCode {
    if (node.fault !== undefined) return this.#faulty(node.fault);
    if (node.kind === 'ident') return this.#base(node.name, node.resolved, chargeBase);
    if (node.kind === 'select' && !node.testOnly) {
      if (node.resolved !== undefined) return this.#base(node.resolved, node.resolved, chargeBase);
      return this.#field(node, chargeBase);
    }
    if (node.kind === 'call' && isAttributeCall(node)) return this.#attributeCall(node, chargeBase);
    const code = this.plan(node);
    // A selection on a computed value counts as a separate base.
    return chargeBase && !isAttribute(node)
      ? (frame) => {
          const value = code(frame);
          frame.charge(1);
          return value;
        }
      : code;
  }

  #faulty(message: string): Code {
    return () => fail(message);
  }

  #base(name: string, resolved: string | undefined, chargeBase: boolean): RawCode {
    const cost = chargeBase ? 1 : 0;
    const local = resolved === undefined ? this.#locals.findLast((candidate) => candidate.name === name) : undefined;
    if (local !== undefined) {
      const { slot } = local;
      return (frame) => {
        const value = frame.slots[slot];
        frame.charge(cost);
        if (value instanceof Fault) throw value;
        return value;
      };
    }
    const variable = resolved ?? name;
    const constant = this.environment.constants.get(variable)?.value ?? this.#typeValue(variable);
    // Names of types are constants, which cost nothing.
    if (constant !== undefined && !this.environment.variables.has(variable)) return () => constant;
    const slot = this.variables.indexOf(variable);
    return (frame) => {
      const value = frame.slots[slot];
      frame.charge(cost);
      return value === undefined ? fail(`no such attribute(s): ${variable}`) : value;
    };
  }

  #typeValue(name: string): CelValue | undefined {
    const type = this.environment.typeNames.get(name);
    return type === undefined ? undefined : new TypeValue(name);
  }

  #field(node: Select, chargeBase: boolean): RawCode {
    const { field, operand } = node;
    const target = this.raw(operand, chargeBase);
    const type = operand.type ?? dynType;
    const read = propertyReader(propertyName(type, field));
    return (frame) => {
      const object = target(frame);
      frame.charge(1);
      if (typeof object === 'object' && object !== null && !(object instanceof Boxed) && !Array.isArray(object)) {
        const value = read(object as Record<string, unknown>);
        return value === undefined ? fail(`no such key: ${field}`) : value;
      }
      return getField(object, field);
    };
  }

  #presence(node: Select): Code {
    const target = this.raw(node.operand, true);
    const { field } = node;
    const type = node.operand.type ?? dynType;
    const property = propertyName(type, field);
    const cost = this.environment.presenceTestCosts ? 1 : 0;
    return (frame) => {
      const object = target(frame);
      frame.charge(cost);
      return hasField(object, object instanceof Boxed ? field : property);
    };
  }

  /** `a[b]`, `a[?b]`, `a.?b`, `c ? a : b`. */
  #attributeCall(node: Call, chargeBase: boolean): RawCode {
    const [first, second, third] = node.args as [Expr, Expr, Expr];
    if (node.fn === '_?_:_') {
      const condition = this.plan(first);
      const whenTrue = this.raw(second, false);
      const whenFalse = this.raw(third, false);
      return (frame) => {
        const test = condition(frame);
        if (test === true) return whenTrue(frame);
        return test === false ? whenFalse(frame) : fail('no such overload');
      };
    }
    const target = this.raw(first, chargeBase);
    if (node.fn === '_?._') {
      const field = String((second as Expr & { value: CelValue }).value);
      const property = propertyName(first.type ?? dynType, field);
      const adapt = this.#innerAdapter(node);
      return (frame) => {
        const object = target(frame);
        const found = findField(object, object instanceof Boxed ? field : property);
        if (found !== undefined) frame.charge(1);
        return optional(found, adapt);
      };
    }
    const index = this.planAttribute(second, false);
    if (node.fn === '_[?_]') {
      const adapt = this.#innerAdapter(node);
      return (frame) => {
        const object = target(frame);
        const found = findIndex(object, index(frame));
        if (found !== undefined) frame.charge(1);
        return optional(found, adapt);
      };
    }
    return (frame) => {
      const object = target(frame);
      const at = index(frame);
      frame.charge(1);
      return getIndex(object, at);
    };
  }

  /** The adapter of the value inside an optional. */
  #innerAdapter(node: Expr): Adapter {
    const type = node.type;
    const inner = type?.kind === 'opaque' ? type.params[0] : undefined;
    return inner === undefined || untyped(inner) ? adaptAny : adapter(inner);
  }

  #struct(node: StructExpr): Code {
    const fields = node.fields.map(({ name, value, optional }) => ({ name, optional, code: this.plan(value) }));
    const name = node.type?.kind === 'object' ? node.type.name : node.name;
    return (frame) => {
      const entries: [string, CelValue][] = [];
      for (const field of fields) {
        const value = field.code(frame);
        if (!field.optional) entries.push([field.name, value]);
        else if (value instanceof Optional && value.value !== undefined) entries.push([field.name, value.value]);
      }
      frame.charge(structCost);
      allocate(nodeBytes + entries.length * entryBytes);
      return new StructValue(name, entries);
    };
  }

  /** Declares a comprehension's variable while `inside` runs, with its slot. */
  withLocal<Result>(name: string, inside: (slot: number) => Result): Result {
    const slot = this.variables.length + this.#localCount++;
    this.#localsMost = Math.max(this.#localsMost, this.#localCount);
    this.#locals.push({ name, slot });
    try {
      return inside(slot);
    } finally {
      this.#locals.pop();
      this.#localCount -= 1;
    }
  }
}

/** A boxed value is returned unchanged; strings may have to be converted to bytes or times. */
function adaptBoxed(value: string | Boxed, adapt: Adapter): CelValue {
  return typeof value === 'string' ? adapt(value) : (value as CelValue);
}

/** A field's name in JSON. */
function propertyName(type: Type, field: string): string {
  return type.kind === 'object' ? (type.fields.get(field)?.jsonName ?? field) : field;
}

function optional(found: unknown, adapt: Adapter): Optional {
  if (found instanceof Optional) return found;
  return found === undefined ? Optional.none : new Optional(adapt(found));
}
