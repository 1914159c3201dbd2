/**
 * Compiled policies, shared by control planes that have the very same one: fleets are governed by one set of policies. What
 * is compiled depends on the policy's `spec` alone, and evaluating it changes nothing in it.
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
