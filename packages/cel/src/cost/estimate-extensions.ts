/** Estimates for the list and set extensions, by overload. */

import { sortableTypes } from './actual-extensions.ts';
import type { CallEstimate, CallToEstimate, SizedNode } from './estimate-calls.ts';
import { add, exactly, most, multiply, one, scale, unknown } from './interval.ts';
import type { Interval } from './interval.ts';
import { listCost, perCharacter } from './sizes.ts';

const sizeOf = (node: SizedNode | undefined): Interval => node?.size ?? unknown;

function allocating(factor: number, size: Interval): CallEstimate {
  return { cost: add(scale(size, factor), exactly(1 + listCost)), size };
}

/** A literal int, or what to assume when it is not one. */
function literalOr(node: SizedNode | undefined, otherwise: number): number {
  if (node?.node.kind !== 'const' || (typeof node.node.value !== 'number' && typeof node.node.value !== 'bigint'))
    return otherwise;
  return Math.max(0, Number(node.node.value));
}

function sets(factor: number, [a, b]: readonly SizedNode[]): CallEstimate {
  return { cost: add(scale(multiply(sizeOf(a), sizeOf(b)), factor), one) };
}

const sortOverloads = new Map<string, { readonly byKeys: boolean; readonly factor: number }>(
  sortableTypes.flatMap((type) => {
    const factor = type === 'string' || type === 'bytes' ? 2 + perCharacter : 2;
    return [
      [`list_${type}_sort`, { byKeys: false, factor }] as const,
      [`list_${type}_sortByAssociatedKeys`, { byKeys: true, factor }] as const,
    ];
  }),
);

export function estimateExtensionCall({ overload, target, args }: CallToEstimate): CallEstimate | undefined {
  switch (overload) {
    case 'list_slice':
      return allocating(1, exactly(literalOr(args[1], sizeOf(target).max) - literalOr(args[0], 0)));
    case 'lists_range':
      return allocating(1, exactly(literalOr(args[0], most)));
    case 'list_reverse':
      return allocating(1, sizeOf(target));
    case 'list_flatten':
      return allocating(1, sizeOf(target));
    case 'list_flatten_int':
      return allocating(literalOr(args[0], most), sizeOf(target));
    case 'list_distinct':
      return allocating(2, multiply(sizeOf(target), sizeOf(target)));
    case 'list_sets_contains_list':
    case 'list_sets_intersects_list':
      return sets(1, args);
    case 'list_sets_equivalent_list':
      return sets(2, args);
  }
  const sort = sortOverloads.get(overload);
  if (sort === undefined) return undefined;
  const size = sizeOf(sort.byKeys ? args[0] : target);
  return allocating(sort.factor, multiply(size, size));
}
