/** Estimates for Kubernetes' own functions and some it shares, by name. */

import type { Type } from '../types.ts';
import { authorizationCheckCost, oneUnit } from './actual-kubernetes.ts';
import type { CostEstimator } from './estimate.ts';
import type { CallEstimate, CallToEstimate, SizedNode } from './estimate-calls.ts';
import { replacedSize } from './estimate-replace.ts';
import { add, exactly, multiply, one, scale, unknown } from './interval.ts';
import type { Interval } from './interval.ts';
import { listCost, perCharacter, perRegexCharacter, structCost } from './sizes.ts';

/** An address has 4 or 16 bytes. */
const addressSize: Interval = { min: 4, max: 16 };
const formatRegexSize = 128;
const oneUnitFunctions: ReadonlySet<string> = new Set(oneUnit);

export function estimateKubernetesCall(estimator: CostEstimator, call: CallToEstimate): CallEstimate | undefined {
  const { node, overload, target, args } = call;
  const [first, second] = args;
  const sizeOf = (sized: SizedNode | undefined): Interval =>
    sized === undefined ? unknown : (sized.size ?? estimator.declaredSize(sized.path) ?? unknown);
  const walk = (sized: SizedNode | undefined, times = 1): Interval => scale(sizeOf(sized), times * perCharacter);
  const element = (list: SizedNode): { type: Type; size: Interval } | undefined => {
    if (list.type.kind !== 'list') return undefined;
    const size = list.path.length === 0 ? undefined : estimator.declaredSize([...list.path, '@items']);
    return { type: list.type.element, size: size ?? unknown };
  };

  if (oneUnitFunctions.has(node.fn)) return { cost: one };
  switch (node.fn) {
    case 'check':
      return { cost: exactly(authorizationCheckCost) };
    case 'fieldSelector':
    case 'labelSelector': {
      const length = sizeOf(first);
      const requirements = scale(scale(length, 0.5), listCost + structCost);
      return { cost: add(add(exactly(listCost), scale(length, perCharacter)), requirements) };
    }
    case 'isSorted':
    case 'sum':
    case 'max':
    case 'min':
    case 'indexOf':
    case 'lastIndexOf': {
      if (target === undefined) return undefined;
      const inside = element(target);
      if (inside === undefined) return { cost: walk(target) };
      const text = inside.type.kind === 'string' || inside.type.kind === 'bytes';
      return { cost: multiply(sizeOf(target), text ? add(one, scale(inside.size, perCharacter)) : one) };
    }
    case 'url':
    case 'jsonpatch.escapeKey':
      return { cost: walk(first), size: sizeOf(first) };
    case 'lowerAscii':
    case 'upperAscii':
    case 'substring':
    case 'trim':
      return { cost: walk(target), size: sizeOf(target) };
    case 'replace':
      return { cost: walk(target, 2), size: replacedSize(sizeOf(target), sizeOf(first), sizeOf(second)) };
    case 'split': {
      const limit =
        second?.node.kind === 'const' && typeof second.node.value === 'number' ? second.node.value : undefined;
      return { cost: walk(target, 2), size: { min: 0, max: limit ?? sizeOf(target).max } };
    }
    case 'join': {
      if (target === undefined) return undefined;
      const list = sizeOf(target);
      let size = multiply(list, element(target)?.size ?? exactly(0));
      if (first !== undefined) {
        const separators = { min: Math.max(0, list.min - 1), max: Math.max(0, list.max - 1) };
        size = add(size, multiply(sizeOf(first), separators));
      }
      return { cost: scale(size, perCharacter), size };
    }
    case 'find':
    case 'findAll': {
      const text = scale(add(sizeOf(target), one), perCharacter);
      return {
        cost: multiply(text, scale(sizeOf(first), perRegexCharacter)),
        size: { min: 0, max: sizeOf(target).max },
      };
    }
    case 'cidr':
    case 'isIP':
    case 'isCIDR':
    case 'quantity':
    case 'isQuantity':
    case 'semver':
    case 'isSemver':
      return { cost: walk(first) };
    case 'ip':
      return { cost: overload === 'cidr_ip' ? one : walk(first) };
    case 'ip.isCanonical':
      return { cost: walk(first, 2) };
    case 'containsIP': {
      const compare = scale(add(addressSize, addressSize), perCharacter);
      return { cost: overload === 'cidr_contains_ip_string' ? add(compare, walk(first)) : compare };
    }
    case 'containsCIDR': {
      const compare = scale(add(addressSize, addressSize), perCharacter);
      const masked = add(add(compare, scale(addressSize, perCharacter)), one);
      return { cost: overload === 'cidr_contains_cidr_string' ? add(masked, walk(first)) : masked };
    }
    case 'validate':
      return { cost: scale(walk(first), formatRegexSize * perRegexCharacter) };
    case '_==_':
      return first && second && first.type.kind === 'opaque' && second.type.kind === 'opaque'
        ? opaqueEquality(first.type.name, second)
        : undefined;
    default:
      return undefined;
  }
}

const constantTime = new Set([
  'net.IP',
  'net.CIDR',
  'kubernetes.Quantity',
  'kubernetes.Semver',
  'kubernetes.authorization.Authorizer',
  'kubernetes.authorization.PathCheck',
  'kubernetes.authorization.GroupCheck',
  'kubernetes.authorization.ResourceCheck',
  'kubernetes.authorization.Decision',
]);

function opaqueEquality(name: string, second: SizedNode): CallEstimate | undefined {
  if (constantTime.has(name)) return { cost: one };
  if (name === 'kubernetes.NamedFormat') return { cost: scale({ min: 1, max: 64 }, perCharacter) };
  if (name === 'kubernetes.URL') return { cost: scale({ min: 1, max: second.size?.max ?? 1 }, perCharacter) };
  return undefined;
}
