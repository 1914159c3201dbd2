/** Compares the results of the real control plane with those of Hangar. */

import type { Spec } from '../e2e/specs.ts';
import type { Results } from './results.ts';

export interface Comparison {
  readonly total: number;
  readonly passedReal: number;
  readonly passedHangar: number;
  /** Specs that have a result there and none here, and the other way round. */
  readonly missingReal: readonly string[];
  readonly missingHangar: readonly string[];
  /** Pass on the real control plane and fail on Hangar. */
  readonly onlyReal: readonly string[];
  /** Pass on Hangar and fail on the real control plane. */
  readonly onlyHangar: readonly string[];
  readonly failedOnBoth: readonly string[];
}

export interface ResultsOfBoth {
  readonly real: Results;
  readonly hangar: Results;
}

export function compare(specs: readonly Spec[], { real, hangar }: ResultsOfBoth): Comparison {
  const names = specs.map(({ name }) => name);
  const passes = (results: Results) => (name: string) => results.get(name)?.passed === true;
  const fails = (results: Results) => (name: string) => results.get(name)?.passed === false;
  return {
    total: names.length,
    passedReal: names.filter(passes(real)).length,
    passedHangar: names.filter(passes(hangar)).length,
    missingReal: names.filter((name) => !real.has(name)),
    missingHangar: names.filter((name) => !hangar.has(name)),
    onlyReal: names.filter(passes(real)).filter(fails(hangar)),
    onlyHangar: names.filter(passes(hangar)).filter(fails(real)),
    failedOnBoth: names.filter(fails(real)).filter(fails(hangar)),
  };
}

/** Returns the lines to print. */
export function describeComparison(comparison: Comparison, { real, hangar }: ResultsOfBoth): string[] {
  const { total, passedReal, passedHangar, missingReal, missingHangar, onlyReal, onlyHangar, failedOnBoth } =
    comparison;
  const lines = [`${passedReal} of ${total} pass on the real control plane, ${passedHangar} on Hangar`];
  if (missingReal.length > 0) lines.push(`${missingReal.length} have no result on the real control plane: --real`);
  if (missingHangar.length > 0) lines.push(`${missingHangar.length} have no result on Hangar`);
  const list = (title: string, names: readonly string[], results: Results): void => {
    if (names.length === 0) return;
    lines.push(`${title}: ${names.length}`);
    for (const name of names) lines.push(`✖ ${name}\n    ${results.get(name)!.cause}`);
  };
  if (onlyReal.length === 0) lines.push('pass there and not here: none');
  list('pass there and not here', onlyReal, hangar);
  list('pass here and not there', onlyHangar, real);
  list('fail on both', failedOnBoth, hangar);
  return lines;
}
