/**
 * Estimates the minimum and maximum cost of an expression before it runs: computed over the checked tree from sizes that the schema bounds
 * (`maxElements` of types). Kubernetes refuses rules by these numbers, so the arithmetic is the same as there, including its oddities: it
 * is API.
 */

import type { Environment } from '../environment.ts';
import { dynType, isOptional } from '../types.ts';
import type { Type } from '../types.ts';
import type { Call, Comprehension, Expr, ListExpr, MapExpr, Select } from '../syntax/ast.ts';
import { codePointCount } from '../values/text.ts';
import { estimateCall } from './estimate-calls.ts';
import type { CallEstimate, SizedNode } from './estimate-calls.ts';
import { work } from '../work.ts';
import { add, exactly, multiply, one, sum, union, unknown, zero } from './interval.ts';
import type { Interval } from './interval.ts';
import { listCost, mapCost, structCost } from './sizes.ts';

const nsPerNode = 500;
const nsPerStep = 20;

/** Sizes of a container's keys and values. */
export interface EntrySizes {
  readonly kind: 'list' | 'map';
  readonly key: Interval;
  readonly value: Interval;
}

interface LocalSizes {
  readonly path: readonly string[];
  readonly size: Interval | undefined;
  readonly entries: EntrySizes | undefined;
}

export function estimateCost(root: Expr, environment: Environment): Interval {
  return new CostEstimator(environment).cost(root);
}

export class CostEstimator {
  readonly #environment: Environment;
  readonly #paths = new Map<Expr, readonly string[]>();
  readonly #sizes = new Map<Expr, Interval>();
  readonly #entries = new Map<Expr, EntrySizes>();
  readonly #locals = new Map<string, LocalSizes[]>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  cost(node: Expr): Interval {
    work(nsPerNode);
    switch (node.kind) {
      case 'const':
        return zero;
      case 'ident':
        this.#paths.set(node, this.#local(node.name)?.path ?? [node.resolved ?? node.name]);
        return one;
      case 'select':
        return this.#select(node);
      case 'call':
        return this.#call(node);
      case 'list':
        return this.#list(node);
      case 'map':
        return this.#map(node);
      case 'struct':
        return add(sum(node.fields.map((field) => this.cost(field.value))), exactly(structCost));
      case 'comprehension':
        return isLet(node) ? this.#let(node) : this.#loop(node);
    }
  }

  #select(node: Select): Interval {
    if (node.resolved !== undefined) {
      this.#paths.set(node, [node.resolved]);
      return one;
    }
    const operand = this.cost(node.operand);
    if (node.testOnly) return this.#environment.presenceTestCosts ? add(operand, one) : operand;
    this.#paths.set(node, [...this.#path(node.operand), node.field]);
    const kind = (node.operand.type ?? dynType).kind;
    return kind === 'map' || kind === 'object' || kind === 'param' ? add(operand, one) : operand;
  }

  #call(node: Call): Interval {
    const [first] = node.args;
    if (node.fn === 'dyn' && first !== undefined) {
      const cost = add(one, this.cost(first));
      this.setSize(node, this.size(first));
      this.setEntries(node, this.entries(first));
      return cost;
    }
    const argumentCosts = node.args.map((argument) => this.cost(argument));
    const args = node.args.map((argument) => this.sized(argument));
    const overloads = node.overloads ?? [];
    if (overloads.length === 0) return zero;
    const targetCost = node.target === undefined ? zero : this.cost(node.target);
    const target = node.target === undefined ? undefined : this.sized(node.target);

    let cost: Interval = { min: Infinity, max: 0 };
    let size: Interval | undefined;
    for (const overload of overloads) {
      const estimate: CallEstimate = estimateCall(this, { node, overload, target, args, argumentCosts });
      cost = union(cost, estimate.cost);
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : union(size, estimate.size);
      if (overload === 'index_list' || overload === 'index_map') {
        size = this.entries(node.args[0]!)?.value;
        this.#paths.set(node, [...this.#path(node.args[0]!), overload === 'index_list' ? '@items' : '@values']);
      }
      size ??= this.size(node);
    }
    this.setSize(node, size);
    return add(targetCost, cost);
  }

  #list(node: ListExpr): Interval {
    const elements = node.elements.map((element) => element.value);
    const cost = sum(elements.map((element) => this.cost(element)));
    this.#entries.set(node, { kind: 'list', key: one, value: this.#covering(elements) });
    return add(cost, exactly(listCost));
  }

  #map(node: MapExpr): Interval {
    const keys = node.entries.map((entry) => entry.key);
    const values = node.entries.map((entry) => entry.value);
    const cost = sum([...keys, ...values].map((part) => this.cost(part)));
    this.#entries.set(node, { kind: 'map', key: this.#covering(keys), value: this.#covering(values) });
    return add(cost, exactly(mapCost));
  }

  #covering(nodes: readonly Expr[]): Interval {
    if (nodes.length === 0) return zero;
    return nodes.map((node) => this.sizeOrUnknown(node)).reduce(union);
  }

  #let(node: Comprehension): Interval {
    const cost = add(this.cost(node.range), this.cost(node.accuInit));
    const inner = this.#within(node.accuVar, this.#accumulated(node.accuInit), () => this.cost(node.result));
    this.setSize(node, this.size(node.result));
    this.setEntries(node, this.entries(node.result));
    return add(cost, inner);
  }

  #accumulated(init: Expr): LocalSizes {
    return { path: this.#path(init), size: this.size(init), entries: this.entries(init) };
  }

  #loop(node: Comprehension): Interval {
    const outside = add(this.cost(node.range), this.cost(node.accuInit));
    const count = () => this.sizeOrUnknown(node.range);
    return this.#within(node.accuVar, this.#accumulated(node.accuInit), () => {
      const body = (): Interval => {
        const condition = this.cost(node.condition);
        return add(this.cost(node.step), condition);
      };
      const { iterVar2 } = node;
      const perElement =
        iterVar2 === undefined
          ? this.#within(node.iterVar, this.#iterated(node.range, 'single'), body)
          : this.#within(node.iterVar, this.#iterated(node.range, 'key'), () =>
              this.#within(iterVar2, this.#iterated(node.range, 'value'), body),
            );
      const total = add(add(outside, this.cost(node.result)), multiply(count(), perElement));
      this.#sizeOfLoop(node, count());
      return total;
    });
  }

  #sizeOfLoop(node: Comprehension, count: Interval): void {
    if (node.accuInit.kind === 'const') this.setSize(node, this.size(node.accuInit));
    else if (node.accuInit.kind === 'list' || node.accuInit.kind === 'map') {
      this.#sizes.set(node, count);
      this.setEntries(node, this.entries(node.step));
    }
  }

  #iterated(range: Expr, which: 'single' | 'key' | 'value'): LocalSizes {
    const entries = this.entries(range);
    const kind = entries?.kind ?? (range.type ?? dynType).kind;
    const list = kind === 'list';
    const value = which === 'value' || (which === 'single' && list);
    const step = value ? (list ? '@items' : '@values') : list ? '@indices' : '@keys';
    return { path: [...this.#path(range), step], size: value ? entries?.value : entries?.key, entries: undefined };
  }

  #within<Result>(name: string, local: LocalSizes, inside: () => Result): Result {
    const stack = this.#locals.get(name) ?? [];
    this.#locals.set(name, stack);
    stack.push(local);
    const result = inside();
    stack.pop();
    return result;
  }

  #local(name: string): LocalSizes | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  #path(node: Expr): readonly string[] {
    const local = node.kind === 'ident' ? this.#local(node.name) : undefined;
    return local?.path ?? this.#paths.get(node) ?? [];
  }

  /** Returns a node for the estimates of single functions. */
  sized(node: Expr): SizedNode {
    const path = this.#path(node);
    return { node, type: node.type ?? dynType, size: this.size(node), path: path[0]?.startsWith('@') ? [] : path };
  }

  setSize(node: Expr, size: Interval | undefined): void {
    if (size !== undefined) this.#sizes.set(node, size);
  }

  setEntries(node: Expr, entries: EntrySizes | undefined): void {
    if (entries !== undefined) this.#entries.set(node, entries);
  }

  sizeOrUnknown(node: Expr): Interval {
    return this.size(node) ?? unknown;
  }

  size(node: Expr): Interval | undefined {
    const known = this.#sizes.get(node) ?? literalSize(node);
    if (known !== undefined) return known;
    const declared = this.declaredSize(this.#path(node));
    if (declared !== undefined) {
      this.#sizes.set(node, declared);
      return declared;
    }
    if (isScalar(node.type ?? dynType)) return one;
    return node.kind === 'ident' ? this.#local(node.name)?.size : undefined;
  }

  entries(node: Expr): EntrySizes | undefined {
    return this.#entries.get(node) ?? (node.kind === 'ident' ? this.#local(node.name)?.entries : undefined);
  }

  /** Returns the bound of the schema on the value at a path, if the path leads into a schema. */
  declaredSize(path: readonly string[]): Interval | undefined {
    work(path.length * nsPerStep);
    const [root, ...steps] = path;
    if (root === undefined) return undefined;
    // Kubernetes treats every path as starting at `self`, also that of a type's name: it affects the numbers.
    const { variables } = this.#environment;
    let type = variables.get(root) ?? variables.get('self');
    for (const step of steps) {
      if (type === undefined) return undefined;
      if (step === '@items' || step === '@values') {
        type = type.kind === 'list' ? type.element : type.kind === 'map' ? type.value : undefined;
      } else if (step === '@keys') {
        type = type.kind === 'map' ? type.key : undefined;
      } else {
        type = type.kind === 'object' ? type.fields.get(step)?.type : undefined;
      }
    }
    return type?.maxElements === undefined ? undefined : { min: 0, max: type.maxElements };
  }
}

function isLet(node: Comprehension): boolean {
  return (
    node.range.kind === 'list' &&
    node.range.elements.length === 0 &&
    node.condition.kind === 'const' &&
    node.condition.value === false
  );
}

function literalSize(node: Expr): Interval | undefined {
  switch (node.kind) {
    case 'const':
      if (typeof node.value === 'string') return exactly(codePointCount(node.value));
      return node.value instanceof Uint8Array ? exactly(node.value.length) : one;
    case 'list':
      return exactly(node.elements.length);
    case 'map':
      return exactly(node.entries.length);
    default:
      return undefined;
  }
}

function isScalar(type: Type): boolean {
  if (isOptional(type)) return isScalar(type.params[0]!);
  return ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind);
}
