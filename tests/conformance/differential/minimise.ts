/** The smallest sequence that still shows a difference: first without needless requests, then without needless fields. */

import { isObject } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import { signature } from './difference.ts';
import { run } from './run.ts';
import type { Finding, Servers } from './run.ts';
import type { Step } from './step.ts';

export interface Minimal {
  readonly steps: readonly Step[];
  readonly finding: Finding;
}

const attemptsMax = 120;

/** Undefined when the difference does not show again: then it was one of timing. */
export async function minimise(servers: Servers, steps: readonly Step[], found: Finding): Promise<Minimal | undefined> {
  const wanted = signature(found.differences);
  let attempts = 0;
  const showing = async (candidate: readonly Step[]): Promise<Minimal | undefined> => {
    if (attempts++ > attemptsMax) return undefined;
    const { finding } = await run(servers, candidate);
    if (!finding || signature(finding.differences) !== wanted) return undefined;
    return { steps: candidate.slice(0, finding.at + 1), finding };
  };
  let best = await showing(steps.slice(0, found.at + 1));
  if (!best) return undefined;
  for (let at = best.steps.length - 2; at >= 0; at--) best = (await showing(best.steps.toSpliced(at, 1))) ?? best;
  for (let at = best.steps.length - 1; at >= 0; at--) best = await smallerBody(best, at, showing);
  return best;
}

type Showing = (candidate: readonly Step[]) => Promise<Minimal | undefined>;

async function smallerBody(start: Minimal, at: number, showing: Showing): Promise<Minimal> {
  let best = start;
  for (let path = 0; ;) {
    const step = best.steps[at];
    const value = step && bodyOf(step);
    if (value === undefined) return best;
    const smaller = without(value, { left: path });
    if (smaller === undefined) return best;
    const kept = await showing(best.steps.with(at, withBody(step!, smaller)));
    if (kept && kept.steps.length === best.steps.length) best = kept;
    else path++;
  }
}

function bodyOf({ body }: Step): unknown {
  if (body?.type === 'json') return body.value;
  return body?.type === 'live' ? body.change : undefined;
}

function withBody(step: Step, value: unknown): Step {
  return step.body?.type === 'live'
    ? { ...step, body: { type: 'live', change: value as JsonObject } }
    : { ...step, body: { type: 'json', value } };
}

/** The value without its `left`-th part, counted from the outside in; undefined when it has not so many. */
function without(value: unknown, count: { left: number }): unknown {
  if (Array.isArray(value)) {
    for (const [at, one] of value.entries()) {
      if (count.left-- === 0) return value.toSpliced(at, 1);
      const inner = without(one, count);
      if (inner !== undefined) return value.with(at, inner);
    }
    return undefined;
  }
  if (!isObject(value)) return undefined;
  for (const [key, one] of Object.entries(value)) {
    if (count.left-- === 0) return Object.fromEntries(Object.entries(value).filter(([other]) => other !== key));
    const inner = without(one, count);
    if (inner !== undefined) return { ...value, [key]: inner };
  }
  return undefined;
}
