/**
 * The tree that the parser builds. Macros are already expanded, as `Comprehension` nodes: the checker, the cost estimate and the
 * interpreter do not handle `all` or `map`. The checker writes its results (`type`, `overloads`, `resolved`) into the nodes.
 */

import type { Type } from '../types.ts';
import type { CelValue } from '../values/values.ts';
import { work } from '../work.ts';

interface Node {
  /** Position of errors about this node. */
  readonly offset: number;
  /** Height of the tree under this node: bounds every later recursion. */
  readonly depth: number;
  /** Nodes under this node, counting shared ones each time: bounds what macros may multiply. */
  readonly weight: number;
  /** Set by the checker. */
  type?: Type;
  /** Set by a lenient checker: evaluating this node fails with this message. */
  fault?: string;
}

export interface Const extends Node {
  readonly kind: 'const';
  readonly value: CelValue;
}

export interface Ident extends Node {
  readonly kind: 'ident';
  readonly name: string;
  /** The declared variable, after trying the container's prefixes. */
  resolved?: string;
}

export interface Select extends Node {
  readonly kind: 'select';
  readonly operand: Expr;
  readonly field: string;
  readonly testOnly: boolean;
  /** Set when `a.b.c` names a variable as a whole. */
  resolved?: string;
}

export interface Call extends Node {
  readonly kind: 'call';
  fn: string;
  target: Expr | undefined;
  readonly args: readonly Expr[];
  /** Ids of the possible overloads; one if the types are known. */
  overloads?: readonly string[];
}

export interface ListExpr extends Node {
  readonly kind: 'list';
  readonly elements: readonly { readonly value: Expr; readonly optional: boolean }[];
}

export interface MapExpr extends Node {
  readonly kind: 'map';
  readonly entries: readonly { readonly key: Expr; readonly value: Expr; readonly optional: boolean }[];
}

export interface StructExpr extends Node {
  readonly kind: 'struct';
  readonly name: string;
  readonly fields: readonly {
    readonly name: string;
    readonly value: Expr;
    readonly optional: boolean;
    readonly offset: number;
  }[];
}

/** `accuVar = accuInit; for iterVar in range { if (!condition) break; accuVar = step }; result`. */
export interface Comprehension extends Node {
  readonly kind: 'comprehension';
  readonly range: Expr;
  readonly iterVar: string;
  readonly iterVar2: string | undefined;
  readonly accuVar: string;
  readonly accuInit: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

export type Expr = Const | Ident | Select | Call | ListExpr | MapExpr | StructExpr | Comprehension;

const nsPerNode = 300;

export const accumulator = '@result';

const over = (children: readonly (Expr | undefined)[]): { depth: number; weight: number } => {
  work(nsPerNode);
  let depth = 0;
  let weight = 1;
  for (const child of children) {
    if (child === undefined) continue;
    if (child.depth > depth) depth = child.depth;
    weight += child.weight;
  }
  return { depth: depth + 1, weight };
};

const leaf = { depth: 1, weight: 1 };

type ComprehensionParts = Pick<
  Comprehension,
  'range' | 'iterVar' | 'accuVar' | 'accuInit' | 'condition' | 'step' | 'result'
>;

/** Constructors that maintain `depth` and `weight`. */
export const build = {
  constant: (offset: number, value: CelValue): Const => ({ kind: 'const', offset, ...leaf, value }),
  ident: (offset: number, name: string): Ident => ({ kind: 'ident', offset, ...leaf, name }),
  select: (offset: number, operand: Expr, field: string, testOnly = false): Select => ({
    kind: 'select',
    offset,
    ...over([operand]),
    operand,
    field,
    testOnly,
  }),
  call: (offset: number, fn: string, args: readonly Expr[], target?: Expr): Call => ({
    kind: 'call',
    offset,
    ...over([target, ...args]),
    fn,
    target,
    args,
  }),
  list: (offset: number, elements: ListExpr['elements']): ListExpr => ({
    kind: 'list',
    offset,
    ...over(elements.map((element) => element.value)),
    elements,
  }),
  map: (offset: number, entries: MapExpr['entries']): MapExpr => ({
    kind: 'map',
    offset,
    ...over(entries.flatMap(({ key, value }) => [key, value])),
    entries,
  }),
  struct: (offset: number, name: string, fields: StructExpr['fields']): StructExpr => ({
    kind: 'struct',
    offset,
    ...over(fields.map((field) => field.value)),
    name,
    fields,
  }),
  comprehension: (offset: number, parts: ComprehensionParts & { iterVar2?: string | undefined }): Comprehension => ({
    kind: 'comprehension',
    offset,
    ...over([parts.range, parts.accuInit, parts.condition, parts.step, parts.result]),
    ...parts,
    iterVar2: parts.iterVar2,
  }),
};
