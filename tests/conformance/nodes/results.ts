/**
 * The outcomes of a run, one JSON object per line in a file for each control plane. A line is written when its spec has completed, so that
 * a run that was interrupted can continue. The last line of a spec counts.
 *
 *     {"name":"[sig-apps] Job should …","passed":false,"seconds":12.3,"cause":"failed at apps/job.go:7: …"}
 */

import { appendFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemWorld } from '../../../tools/world.ts';
import type { Outcome } from '../e2e/report.ts';
import type { Spec } from '../e2e/specs.ts';

export interface Result {
  readonly name: string;
  readonly passed: boolean;
  readonly seconds: number;
  readonly cause: string;
}

/** By name of the spec. */
export type Results = ReadonlyMap<string, Result>;

export type PlaneName = 'hangar' | 'real';

/** Returns the path of the file with the results of a control plane, in the cache of `tools/`. */
export const resultsFile = (plane: PlaneName): string =>
  join(systemWorld(() => {}).cacheFolder, 'conformance', `${plane}.jsonl`);

/** A file that does not exist has no results. A line that the process was writing when it was killed is ignored. */
export function readResults(path: string): Results {
  return parseResults(readIfExists(path));
}

export function parseResults(text: string): Results {
  const results = new Map<string, Result>();
  for (const line of text.split('\n')) {
    const result = parseLine(line);
    if (result) results.set(result.name, result);
  }
  return results;
}

/** Returns undefined for an empty line and for one that is not complete. */
function parseLine(line: string): Result | undefined {
  try {
    return JSON.parse(line) as Result;
  } catch {
    return undefined;
  }
}

export function appendResult(path: string, { spec, passed, seconds, cause }: Outcome): void {
  mkdirSync(dirname(path), { recursive: true });
  const result: Result = { name: spec.name, passed, seconds, cause };
  // Ends an incomplete line of a process that was killed.
  const text = readIfExists(path);
  const missing = text !== '' && !text.endsWith('\n') ? '\n' : '';
  appendFileSync(path, `${missing}${JSON.stringify(result)}\n`);
}

export const removeResults = (path: string): void => rmSync(path, { force: true });

export interface Choice {
  /** Text that the names contain. */
  readonly filter: string;
  /** Matches names of specs that do not run. */
  readonly skip?: RegExp | undefined;
  /** `all`: every spec. `missing`: those without a result. `failed`: those without a result and those that failed. */
  readonly which: 'all' | 'missing' | 'failed';
}

/** Returns the specs to run, in the order of `specs`. */
export function chooseSpecs(specs: readonly Spec[], results: Results, { filter, skip, which }: Choice): Spec[] {
  return specs.filter(({ name }) => {
    if (!name.includes(filter) || skip?.test(name)) return false;
    const result = results.get(name);
    return which === 'all' || result === undefined || (which === 'failed' && !result.passed);
  });
}

function readIfExists(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
