/**
 * Translates CEL to SQL conditions. Only expressions that cannot fail, with the same result in both languages, are translated: comparisons
 * of columns with constants, `in`, string predicates, and their combinations.
 *
 *     verb == "delete" && "ops" in user.groups       the database checks the verb, rows are evaluated for the rest
 */

import { Timestamp } from '@hangar/cel';
import type { CelValue, Expr } from '@hangar/cel';
import { columnOfPath } from './fields.ts';
import type { FilterColumn } from './fields.ts';

export type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>=';
export type StringTest = 'startsWith' | 'endsWith' | 'contains';

/** A condition as data: each driver writes it in its dialect. Cloneable, for threads. */
export type SqlFilter =
  | { readonly type: 'and' | 'or'; readonly parts: readonly SqlFilter[] }
  | { readonly type: 'not'; readonly part: SqlFilter }
  | { readonly type: 'constant'; readonly value: boolean }
  | {
      readonly type: 'compare';
      readonly column: FilterColumn;
      readonly operator: Comparison;
      readonly value: string | number;
    }
  | { readonly type: 'in'; readonly column: FilterColumn; readonly values: readonly (string | number)[] }
  | { readonly type: 'test'; readonly column: FilterColumn; readonly test: StringTest; readonly text: string };

const comparisons: Readonly<Record<string, Comparison>> = {
  '_==_': '=',
  '_!=_': '<>',
  '_<_': '<',
  '_<=_': '<=',
  '_>_': '>',
  '_>=_': '>=',
};

const mirrored: Readonly<Record<Comparison, Comparison>> = {
  '=': '=',
  '<>': '<>',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

/** Returns the condition of a whole expression; undefined if a part of it cannot be translated. */
export function sqlOf(node: Expr): SqlFilter | undefined {
  if (node.kind === 'const') {
    return typeof node.value === 'boolean' ? { type: 'constant', value: node.value } : undefined;
  }
  if (node.kind !== 'call') return undefined;
  const [first, second] = node.args;
  switch (node.fn) {
    case '_&&_':
    case '_||_': {
      const parts = [sqlOf(first!), sqlOf(second!)];
      if (!parts[0] || !parts[1]) return undefined;
      return { type: node.fn === '_&&_' ? 'and' : 'or', parts: [parts[0], parts[1]] };
    }
    case '!_': {
      const part = sqlOf(first!);
      return part && { type: 'not', part };
    }
    case '@in':
      return membership(first!, second!);
    case 'startsWith':
    case 'endsWith':
    case 'contains':
      return stringTest(node.fn, node.target, first);
    default: {
      const operator = comparisons[node.fn];
      return operator && first && second ? comparison(operator, first, second) : undefined;
    }
  }
}

/**
 * Returns the condition of those parts of a conjunction that can be translated; undefined if there are none. The result is true whenever
 * the expression is. `isWhole`: the database decides alone.
 */
export function pushedDown(root: Expr): { readonly filter: SqlFilter | undefined; readonly isWhole: boolean } {
  const parts = conjuncts(root).map(sqlOf);
  const known = parts.filter((part) => part !== undefined);
  const isWhole = known.length === parts.length;
  return { filter: known.length === 0 ? undefined : { type: 'and', parts: known }, isWhole };
}

const conjuncts = (node: Expr): Expr[] =>
  node.kind === 'call' && node.fn === '_&&_' ? node.args.flatMap(conjuncts) : [node];

function comparison(operator: Comparison, left: Expr, right: Expr): SqlFilter | undefined {
  const column = columnOf(left);
  if (column === undefined) {
    return columnOf(right) === undefined ? undefined : comparison(mirrored[operator], right, left);
  }
  const value = valueFor(column, right);
  return value === undefined ? undefined : { type: 'compare', column, operator, value };
}

function membership(element: Expr, list: Expr): SqlFilter | undefined {
  const column = columnOf(element);
  if (column === undefined || list.kind !== 'list' || list.elements.some(({ optional }) => optional)) return undefined;
  const values = list.elements.map(({ value }) => valueFor(column, value));
  return values.every((value) => value !== undefined) ? { type: 'in', column, values } : undefined;
}

function stringTest(test: StringTest, target: Expr | undefined, argument: Expr | undefined): SqlFilter | undefined {
  const column = target && columnOf(target);
  if (column === undefined || column === 'timeUs' || column === 'code' || argument?.kind !== 'const') return undefined;
  const text = valueFor(column, argument);
  return typeof text === 'string' ? { type: 'test', column, test, text } : undefined;
}

function columnOf(node: Expr): FilterColumn | undefined {
  const path = pathOf(node);
  return path !== undefined && Object.hasOwn(columnOfPath, path) ? columnOfPath[path] : undefined;
}

function pathOf(node: Expr): string | undefined {
  if (node.kind === 'ident') return node.name.startsWith('.') ? undefined : node.name;
  if (node.kind !== 'select' || node.testOnly) return undefined;
  const operand = pathOf(node.operand);
  return operand === undefined ? undefined : `${operand}.${node.field}`;
}

/** Returns the value as the column stores it; undefined if the node is not a constant of the type of the column. */
function valueFor(column: FilterColumn, node: Expr): string | number | undefined {
  if (column === 'timeUs') return timeOf(node);
  if (node.kind !== 'const') return undefined;
  const { value } = node;
  if (column === 'code') return integerOf(value);
  // The database cannot store other strings; such a constant is compared on rows.
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0') ? value : undefined;
}

function integerOf(value: CelValue): number | undefined {
  const number = typeof value === 'bigint' || typeof value === 'number' ? Number(value) : undefined;
  return number !== undefined && Number.isSafeInteger(number) ? number : undefined;
}

/** Only times in whole microseconds, as stored. */
function timeOf(node: Expr): number | undefined {
  if (node.kind === 'const') return node.value instanceof Timestamp ? wholeMicroseconds(node.value.nanos) : undefined;
  if (node.kind !== 'call' || node.fn !== 'timestamp' || node.args.length !== 1) return undefined;
  const [text] = node.args;
  if (text?.kind !== 'const' || typeof text.value !== 'string') return undefined;
  const match = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d{1,6}))?Z$/.exec(text.value);
  const ms = match ? Date.parse(`${text.value.slice(0, 19)}Z`) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms * 1_000 + Number((match![1] ?? '').padEnd(6, '0'));
}

const wholeMicroseconds = (nanos: bigint): number | undefined =>
  nanos % 1_000n === 0n ? Number(nanos / 1_000n) : undefined;

/** How a database writes conditions. */
export interface Dialect {
  column(column: FilterColumn): string;
  /** Returns the placeholder of a new parameter. */
  parameter(value: string | number): string;
  test(test: StringTest, column: string, text: string): string;
}

/** Returns the text of a condition in parentheses. */
export function filterText(filter: SqlFilter, dialect: Dialect): string {
  switch (filter.type) {
    case 'and':
    case 'or':
      return `(${filter.parts.map((part) => filterText(part, dialect)).join(filter.type === 'and' ? ' AND ' : ' OR ')})`;
    case 'not':
      return `(NOT ${filterText(filter.part, dialect)})`;
    case 'constant':
      return filter.value ? '(1 = 1)' : '(1 = 0)';
    case 'compare':
      return `(${dialect.column(filter.column)} ${filter.operator} ${dialect.parameter(filter.value)})`;
    case 'in':
      if (filter.values.length === 0) return '(1 = 0)';
      return `(${dialect.column(filter.column)} IN (${filter.values.map((one) => dialect.parameter(one)).join(', ')}))`;
    case 'test':
      return filter.text === ''
        ? '(1 = 1)'
        : `(${dialect.test(filter.test, dialect.column(filter.column), filter.text)})`;
  }
}
