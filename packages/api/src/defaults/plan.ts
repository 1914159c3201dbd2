/**
 * Determines where in a kind defaults apply, once per struct from the table and the defaulters, as a tree that has only the branches with
 * defaults. A kind without defaults has no plan and costs nothing.
 *
 * The order is that of Kubernetes: a struct's own defaulter, then its fields as declared. As in Go, the values of maps get no defaults, and
 * structs that are not pointers exist even if JSON leaves them out.
 */

import type { Field, StructType } from '../builtin/types.ts';
import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';
import { isAbsent, isEmpty } from './access.ts';

export type Defaulter = (value: JsonObject) => void;

/** By struct id, such as `core/v1.Container`. */
export type Defaulters = Readonly<Record<string, Defaulter>>;

export type Plan = readonly Step[];
type Step = (value: JsonObject) => void;

/** A named map with its own defaulter. */
export interface MapDefaulter {
  readonly goName: string;
  readonly apply: Defaulter;
}

export class Planner {
  readonly #defaulters: Defaulters;
  readonly #maps: readonly MapDefaulter[];
  readonly #plans = new Map<StructType, Plan>();

  constructor(defaulters: Defaulters, maps: readonly MapDefaulter[]) {
    this.#defaulters = defaulters;
    this.#maps = maps;
  }

  /** Empty if nothing in it has a default. */
  planOf(struct: StructType): Plan {
    let plan = this.#plans.get(struct);
    if (!plan) {
      // Found by a struct that contains itself (JSON schemas); none of those has defaults.
      this.#plans.set(struct, []);
      plan = this.#build(struct);
      this.#plans.set(struct, plan);
    }
    return plan;
  }

  #build(struct: StructType): Plan {
    const steps: Step[] = [];
    const own = Object.hasOwn(this.#defaulters, struct.id) ? this.#defaulters[struct.id] : undefined;
    if (own) steps.push(own);
    for (const field of struct.fields) {
      if (field.isInline) steps.push(...this.planOf(field.type.struct));
      else steps.push(...this.#stepsOf(field));
    }
    return steps;
  }

  #stepsOf(field: Field): Step[] {
    const { name, type } = field;
    const standard = field.default;
    if (standard !== undefined && (field.isPointer || !isEmpty(standard))) {
      const isUnset = field.isPointer ? isAbsent : isEmpty;
      return [(value) => isUnset(value[name]) && (value[name] = standard)];
    }
    if (type.kind === 'map') return this.#mapSteps(name, type.goName);
    const isList = type.kind === 'list';
    const inner = isList ? type.element! : type;
    if (inner.kind !== 'struct' || inner.struct.shape !== undefined) return [];
    const plan = this.planOf(inner.struct);
    if (plan.length === 0) return [];
    if (isList) return [(value) => applyToElements(plan, value[name])];
    return [
      field.isPointer ? (value) => applyIfPresent(plan, value[name]) : (value) => applyToStruct(plan, value, name),
    ];
  }

  #mapSteps(name: string, goName: string): Step[] {
    const found = this.#maps.find((one) => one.goName === goName);
    return found ? [(value) => isObject(value[name]) && found.apply(value[name])] : [];
  }
}

export function applyPlan(plan: Plan, value: JsonObject): void {
  for (let i = 0; i < plan.length; i++) plan[i]!(value);
}

function applyIfPresent(plan: Plan, value: unknown): void {
  if (isObject(value)) applyPlan(plan, value);
}

/** Keeps a struct that was absent only if it got a default. */
function applyToStruct(plan: Plan, parent: JsonObject, name: string): void {
  const given = parent[name];
  if (isObject(given)) return applyPlan(plan, given);
  const made: JsonObject = {};
  applyPlan(plan, made);
  if (!isEmpty(made)) parent[name] = made;
}

function applyToElements(plan: Plan, list: unknown): void {
  if (!Array.isArray(list)) return;
  for (let i = 0; i < list.length; i++) {
    // A null in a list is a zero struct in Go.
    if (isAbsent(list[i])) list[i] = {};
    applyIfPresent(plan, list[i]);
  }
}
