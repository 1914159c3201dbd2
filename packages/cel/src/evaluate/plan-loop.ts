/**
 * Comprehensions. The general loop follows the tree; the shapes that the macros make have specialized loops with the same result and cost
 * but less work: `all` and `exists` stop early and test nothing twice, `map`, `filter` and `transform…` append in place instead of copying
 * the result at each step.
 */

import { noSuchOverload } from '../errors.ts';
import type { Fault } from '../errors.ts';
import { listCost } from '../cost/sizes.ts';
import type { Comprehension, Expr } from '../syntax/ast.ts';
import { GrowingList } from '../values/list.ts';
import { CelMap, ValueMap } from '../values/map.ts';
import { isAttribute } from './attribute.ts';
import { constantValue } from './fold-constants.ts';
import { iterate, iterateTwo } from './iterate.ts';
import type { Code, Frame } from './frame.ts';
import { swallow } from './logic.ts';
import type { Planner } from './planner.ts';
import { allocate, entryBytes, slotBytes } from '../work.ts';

/** Runs `body` per element with the iteration variables set, until it returns true. */
type Loop = (frame: Frame, body: (frame: Frame) => boolean) => void;

export function planLoop(planner: Planner, node: Comprehension): Code {
  if (isLet(node)) return planLet(planner, node);
  return withIteration(planner, node, (loop) => {
    const quantifier = planQuantifier(planner, node, loop);
    return quantifier ?? planCollector(planner, node, loop) ?? planGeneral(planner, node, loop);
  });
}

/** `cel.bind`: a loop over an empty list. */
function isLet(node: Comprehension): boolean {
  return (
    node.range.kind === 'list' &&
    node.range.elements.length === 0 &&
    node.condition.kind === 'const' &&
    node.condition.value === false
  );
}

function planLet(planner: Planner, node: Comprehension): Code {
  const value = planner.plan(node.accuInit);
  return planner.withLocal(node.accuVar, (slot) => {
    const body = planner.plan(node.result);
    return (frame) => {
      // An error is kept until the variable is read.
      try {
        frame.slots[slot] = value(frame);
      } catch (thrown) {
        frame.slots[slot] = swallow(thrown);
      }
      return body(frame);
    };
  });
}

function withIteration(planner: Planner, node: Comprehension, inside: (loop: Loop) => Code): Code {
  const source = isAttribute(node.range) ? planner.raw(node.range, true) : planner.plan(node.range);
  return planner.withLocal(node.iterVar, (slot) => {
    if (node.iterVar2 === undefined) return inside((frame, body) => iterate(frame, source(frame), slot, body));
    return planner.withLocal(node.iterVar2, (slot2) =>
      inside((frame, body) => iterateTwo(frame, source(frame), slot, slot2, body)),
    );
  });
}

const isAccumulator = (node: Expr | undefined, name: string): boolean => node?.kind === 'ident' && node.name === name;

/** `all` and `exists`: `@result && p` while it is not false, `@result || p` while it is not true. */
function planQuantifier(planner: Planner, node: Comprehension, loop: Loop): Code | undefined {
  const { step, condition, accuVar } = node;
  if (step.kind !== 'call' || condition.kind !== 'call' || condition.fn !== '@not_strictly_false') return undefined;
  if (!isAccumulator(step.args[0], accuVar) || !isAccumulator(node.result, accuVar)) return undefined;
  if (step.fn !== '_&&_' && step.fn !== '_||_') return undefined;
  const decisive = step.fn === '_||_';
  const predicate = planner.withLocal(accuVar, () => planner.plan(step.args[1]!));
  // Reading the accumulator, `!` for exists, and the test itself; then reading it again for the step.
  const testCost = decisive ? 3 : 2;
  return (frame) => {
    let fault: Fault | undefined;
    let decided = false;
    loop(frame, (frame) => {
      frame.charge(testCost);
      if (decided) return true;
      frame.charge(1);
      try {
        const value = predicate(frame);
        if (value === decisive) decided = true;
        else if (typeof value !== 'boolean') noSuchOverload();
      } catch (thrown) {
        fault ??= swallow(thrown);
      }
      return false;
    });
    frame.charge(1);
    if (decided) return decisive;
    if (fault !== undefined) throw fault;
    return !decisive;
  };
}

/** `map`, `filter`, `transformList`, `transformMap`: one more element or entry, if the filter is true. */
function planCollector(planner: Planner, node: Comprehension, loop: Loop): Code | undefined {
  const { accuInit, condition, accuVar } = node;
  if (condition.kind !== 'const' || condition.value !== true || !isAccumulator(node.result, accuVar)) return undefined;
  const filtered = node.step.kind === 'call' && node.step.fn === '_?_:_' && isAccumulator(node.step.args[2], accuVar);
  const filter = filtered && node.step.kind === 'call' ? node.step.args[0] : undefined;
  const step = filtered && node.step.kind === 'call' ? node.step.args[1]! : node.step;
  if (step.kind !== 'call' || !isAccumulator(step.args[0], accuVar)) return undefined;
  const test = filter === undefined ? undefined : planner.plan(filter);
  const passes = (frame: Frame): boolean => {
    const value = test === undefined ? true : test(frame);
    return typeof value === 'boolean' ? value : noSuchOverload();
  };

  if (accuInit.kind === 'list' && accuInit.elements.length === 0 && step.fn === '_+_') {
    const added = step.args[1];
    if (added?.kind !== 'list' || added.elements.length !== 1 || added.elements[0]!.optional) return undefined;
    const value = planner.plan(added.elements[0]!.value);
    // A list of a constant is created once, without cost; only adding it costs.
    const cost = (constantValue(added, planner.environment) === undefined ? listCost : 0) + 1;
    return (frame) => {
      const result = new GrowingList();
      loop(frame, (frame) => {
        if (!passes(frame)) return false;
        frame.charge(1);
        result.values.push(value(frame));
        allocate(slotBytes);
        frame.charge(cost);
        return false;
      });
      frame.charge(1);
      return result;
    };
  }
  if (accuInit.kind === 'map' && accuInit.entries.length === 0 && step.fn === 'cel.@mapInsert') {
    const [first, second] = step.args.slice(1).map((argument) => planner.plan(argument)) as [Code, Code | undefined];
    return (frame) => {
      const result = new ValueMap();
      loop(frame, (frame) => {
        if (!passes(frame)) return false;
        frame.charge(1);
        insert(result, first, second, frame);
        allocate(entryBytes);
        frame.charge(1);
        return false;
      });
      frame.charge(1);
      return result;
    };
  }
  return undefined;
}

function insert(result: ValueMap, first: Code, second: Code | undefined, frame: Frame): void {
  const key = first(frame);
  if (second !== undefined) {
    result.insert(key, second(frame));
    return;
  }
  if (!(key instanceof CelMap)) noSuchOverload();
  for (const name of key.keys()) {
    allocate(entryBytes);
    result.insert(name, key.get(name));
  }
}

function planGeneral(planner: Planner, node: Comprehension, loop: Loop): Code {
  const initial = planner.plan(node.accuInit);
  return planner.withLocal(node.accuVar, (slot) => {
    const condition = planner.plan(node.condition);
    const step = planner.plan(node.step);
    const result = planner.plan(node.result);
    return (frame) => {
      frame.slots[slot] = initial(frame);
      loop(frame, (frame) => {
        if (condition(frame) === false) return true;
        try {
          frame.slots[slot] = step(frame);
        } catch (thrown) {
          frame.slots[slot] = swallow(thrown);
        }
        return false;
      });
      return result(frame);
    };
  });
}
