/**
 * The actual cost of a call, counted as in Kubernetes: one unit per call, a tenth per character walked over, more for regular expressions.
 * The numbers are part of the API: rules are written against the budget.
 */

import { extensionCallCosts } from './actual-extensions.ts';
import { kubernetesCallCosts } from './actual-kubernetes.ts';
import { actualSize, characters, equalityCost, perCharacter, regexCost } from './sizes.ts';
import type { CallCost } from './sizes.ts';

const walk: CallCost = ([text]) => characters(text!);
const compareCost: CallCost = ([a, b]) => equalityCost(a!, b!);

/** By overload: only if the types are known. */
const byOverload = new Map<string, CallCost>([
  ...[
    'starts_with_string',
    'ends_with_string',
    'string_to_bytes',
    'bytes_to_string',
    'strings_quote',
    'string_format',
  ].map((id): [string, CallCost] => [id, walk]),
  ['in_list', ([, list]) => actualSize(list!)],
  ...['less', 'greater', 'less_equals', 'greater_equals'].flatMap((order): [string, CallCost][] => [
    [`${order}_string`, compareCost],
    [`${order}_bytes`, compareCost],
  ]),
  ['equals', compareCost],
  ['not_equals', compareCost],
  ['add_string', ([a, b]) => Math.ceil((actualSize(a!) + actualSize(b!)) * perCharacter)],
  ['add_bytes', ([a, b]) => Math.ceil((actualSize(a!) + actualSize(b!)) * perCharacter)],
  ['matches_string', ([text, pattern]) => regexCost(text!, pattern!)],
  ['contains_string', ([text, part]) => characters(text!) * characters(part!)],
]);

/** Returns the cost function of a call; undefined for one unit. */
export function callCost(fn: string, overloads: readonly string[]): CallCost | undefined {
  const [only] = overloads;
  const overload = overloads.length === 1 && only !== undefined ? only : '';
  const extension = extensionCallCosts.get(overload);
  if (extension !== undefined) return extension;
  const kubernetes = kubernetesCallCosts.get(fn);
  if (kubernetes !== undefined) return kubernetes(overload);
  return byOverload.get(overload);
}
