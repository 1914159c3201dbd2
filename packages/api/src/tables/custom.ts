/** The tables of custom resources: the name, then the columns that the definition declares. */

import { ApiError } from '../errors.ts';
import { isObject } from '../object.ts';
import type { KubeObject } from '../object.ts';
import { sortKeys } from '../values/key-order.ts';
import { since } from './age.ts';
import type { ColumnDefinition, TablePrinter } from './contract.ts';
import { JsonPathError, parseJsonPath, spend, visitBudget } from './json-path.ts';
import type { JsonPath, VisitBudget } from './json-path.ts';

/** One of `additionalPrinterColumns`. */
export interface CustomColumn {
  readonly name: string;
  /** `integer`, `number`, `string`, `boolean` or `date`. */
  readonly type: string;
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}

const nameColumn: ColumnDefinition = { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 };
const ageColumn: CustomColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** From the first column that cannot be read on, none is shown: definitions are not refused for it. */
export function customTable(columns: readonly CustomColumn[] = []): TablePrinter {
  const readable: { definition: ColumnDefinition; path: JsonPath }[] = [];
  for (const column of columns.length > 0 ? columns : [ageColumn]) {
    const path = readPath(column.jsonPath);
    if (!path) break;
    readable.push({ definition: describe(column), path });
  }
  return {
    columns: [nameColumn, ...readable.map(({ definition }) => definition)],
    cells: (object, now) => {
      const budget = visitBudget();
      return [
        object.metadata.name ?? '',
        ...readable.map(({ definition, path }) => shownCell(definition.type, path, { object, now, budget })),
      ];
    },
  };
}

function describe({ name, type, format = '', description, priority = 0, jsonPath }: CustomColumn): ColumnDefinition {
  const fallback = `Custom resource definition column (in JSONPath format): ${jsonPath}`;
  return { name, type, format, description: description || fallback, priority };
}

function readPath(text: string): JsonPath | undefined {
  try {
    return parseJsonPath(text);
  } catch (error) {
    if (error instanceof JsonPathError) return undefined;
    throw error;
  }
}

interface Row {
  readonly object: KubeObject;
  readonly now: number;
  /** Budget of all cells together: many columns may show the same large part of an object. */
  readonly budget: VisitBudget;
}

/** Null when nothing is found, the path does not fit this object, or the row's budget is used up. */
function shownCell(type: string, path: JsonPath, { object, now, budget }: Row): unknown {
  try {
    return cell(type, path.find(object, budget)[0], now, budget);
  } catch (error) {
    if (error instanceof JsonPathError) return null;
    throw error;
  }
}

/** A value of another type than the column's is not shown; only texts take everything. */
function cell(type: string, value: unknown, now: number, budget: VisitBudget): unknown {
  if (value === undefined) return null;
  switch (type) {
    case 'string':
      return text(value, budget);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? date(value, now) : null;
    default:
      return null;
  }
}

function date(value: string, now: number): string {
  try {
    return since(value === '' || value === 'null' ? null : value, now);
  } catch (error) {
    if (error instanceof ApiError) return '<invalid>';
    throw error;
  }
}

/** As Go prints it: structures are JSON. */
function text(value: unknown, budget: VisitBudget): string {
  if (value === null) return '<no value>';
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'object') return json(value, budget);
  spend(budget, lengthCost(String(value)));
  return String(value);
}

/** Long texts count like several values. */
const lengthCost = (text: string): number => 1 + (text.length >> 5);

/** Go writes small numbers with an exponent sooner than JavaScript, and with two digits. */
function numberText(value: number): string {
  if (value === 0 || Math.abs(value) >= 1e-4) return String(value);
  return value.toExponential().replace(/e-(\d)$/, 'e-0$1');
}

const unsafe = /[<>&\u2028\u2029]/g;

/** JSON like Go's: sorted keys, with HTML characters escaped. */
function json(value: unknown, budget: VisitBudget): string {
  spend(budget, typeof value === 'string' ? lengthCost(value) : 1);
  if (Array.isArray(value)) return `[${value.map((item) => json(item, budget)).join(',')}]`;
  if (!isObject(value)) {
    return JSON.stringify(value).replace(unsafe, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  }
  const fields = sortKeys(Object.keys(value)).map((key) => `${json(key, budget)}:${json(value[key], budget)}`);
  return `{${fields.join(',')}}`;
}
