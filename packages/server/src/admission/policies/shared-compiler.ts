/**
 * Shares compiled policies between control planes with identical ones, since fleets use one set of policies. The compiled form depends only
 * on `spec`, and evaluation does not change it.
 */

import type { CacheBudget } from '../../objects/cache-budget.ts';
import { digestOf, SharedByContent } from '../../objects/shared-by-content.ts';
import type { PolicySpec } from './spec.ts';

/** A program takes several times as much memory as its text. */
const bytesPerCharacter = 16;

export function sharedCompiler<Compiled extends object>(
  compile: (spec: PolicySpec) => Compiled,
): (spec: PolicySpec, budget: CacheBudget) => Compiled {
  const known = new SharedByContent<Compiled>();
  return (spec, budget) => {
    const text = JSON.stringify(spec);
    const bytesOf = (): number => text.length * bytesPerCharacter;
    return known.get(digestOf(text), () => compile(spec), { budget, bytesOf });
  };
}
