/** List and map literals with parts that have to be evaluated. */

import { fail } from '../errors.ts';
import { listCost, mapCost } from '../cost/sizes.ts';
import type { ListExpr, MapExpr } from '../syntax/ast.ts';
import { ValueList } from '../values/list.ts';
import { formatKey, ValueMap } from '../values/map.ts';
import { Optional } from '../values/values.ts';
import type { CelValue } from '../values/values.ts';
import { allocate, entryBytes, nodeBytes, slotBytes } from '../work.ts';
import type { Code } from './frame.ts';
import type { Planner } from './planner.ts';

export function planListLiteral(planner: Planner, node: ListExpr): Code {
  const elements = node.elements.map(({ value, optional }) => ({ optional, code: planner.plan(value) }));
  return (frame) => {
    const values: CelValue[] = [];
    for (const { code, optional } of elements) {
      const value = code(frame);
      if (!optional) values.push(value);
      else if (present(value) !== undefined) values.push(present(value)!);
    }
    frame.charge(listCost);
    allocate(nodeBytes + values.length * slotBytes);
    return new ValueList(values);
  };
}

export function planMapLiteral(planner: Planner, node: MapExpr): Code {
  const entries = node.entries.map(({ key, value, optional }) => ({
    optional,
    key: planner.plan(key),
    value: planner.plan(value),
  }));
  return (frame) => {
    const map = new ValueMap();
    for (const entry of entries) {
      const key = entry.key(frame);
      const given = entry.value(frame);
      const value = entry.optional ? present(given) : given;
      if (value === undefined) continue;
      if (map.has(key)) fail(`Failed with repeated key: ${formatKey(key)}`);
      map.insert(key, value);
    }
    frame.charge(mapCost);
    allocate(nodeBytes + entries.length * entryBytes);
    return map;
  };
}

/** Returns the value of an optional entry; undefined leaves the entry out. */
function present(value: CelValue): CelValue | undefined {
  return value instanceof Optional
    ? value.value
    : fail('cannot initialize optional list element from non-optional value');
}
