/** Resource requests and limits of containers and pods. */

import {
  child,
  duplicate,
  forbidden,
  index,
  invalid,
  key,
  notFoundValue,
  notSupported,
  required,
} from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { compareQuantities, parseQuantity } from '../../../values/quantity.ts';
import { sortKeys } from '../../../values/key-order.ts';
import { append } from '../../shared/checks.ts';
import { isWhole, unitsOf } from '../../shared/quantities.ts';
import {
  containerResourceNameErrors,
  hugePagesPrefix,
  isHugePages,
  isOvercommitAllowed,
  resourceNameErrors,
} from '../../shared/resource-names.ts';
import { checkDnsLabel, has } from '../base/checks.ts';
import { checkResourceQuantity, signOf } from '../base/quantities.ts';
import type { ResourceRequirements } from '../types/pod.ts';
import type { PodRules } from './rules.ts';

export interface ResourceScope {
  readonly rules: PodRules;
  /** Names of the claims that the pod declares. */
  readonly claims: ReadonlySet<string>;
  readonly isPodLevel?: boolean;
}

export function checkResources(
  errors: FieldError[],
  path: string,
  requirements: ResourceRequirements | undefined,
  scope: ResourceScope,
): void {
  const { limits, requests, claims } = requirements ?? {};
  const [limitsPath, requestsPath] = [child(path, 'limits'), child(path, 'requests')];
  for (const name of sortKeys(Object.keys(limits ?? {}))) {
    checkAmount(errors, key(limitsPath, name), name, limits![name]!, scope);
    checkHugePages(errors, key(limitsPath, name), name, limits![name]!, scope.rules);
  }
  for (const name of sortKeys(Object.keys(requests ?? {}))) {
    const quantity = requests![name]!;
    checkAmount(errors, key(requestsPath, name), name, quantity, scope);
    if (!has(limits, name)) {
      if (!isOvercommitAllowed(name)) {
        errors.push(required(limitsPath, 'Limit must be set for non overcommitable resources'));
      }
    } else {
      const limit = limits![name]!;
      const order = compareQuantities(quantity, limit);
      const relation = !isOvercommitAllowed(name) && order !== 0 ? 'equal' : order > 0 ? 'less than or equal' : '';
      if (relation) errors.push(invalid(requestsPath, quantity, `must be ${relation} to ${name} limit of ${limit}`));
    }
    checkHugePages(errors, key(requestsPath, name), name, quantity, scope.rules);
  }
  const names = [...Object.keys(limits ?? {}), ...Object.keys(requests ?? {})];
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    errors.push(forbidden(path, 'HugePages require cpu or memory'));
  }
  checkClaims(errors, child(path, 'claims'), claims ?? [], scope.claims);
}

function checkAmount(
  errors: FieldError[],
  path: string,
  name: string,
  quantity: string,
  { isPodLevel = false }: ResourceScope,
): void {
  if (isPodLevel) checkPodResourceName(errors, path, name);
  else append(errors, containerResourceNameErrors(path, name));
  checkResourceQuantity(errors, path, name, quantity);
}

function checkPodResourceName(errors: FieldError[], path: string, name: string): void {
  const problems = resourceNameErrors(path, name);
  append(errors, problems);
  if (problems.length > 0) return;
  if (name === 'cpu' || name === 'memory' || isHugePages(name)) return;
  errors.push(notSupported(path, name, ['cpu', hugePagesPrefix, 'memory']));
}

/** Also true for other resources than huge pages. */
export function isHugePagesMultiple(name: string, quantity: string): boolean {
  if (!isHugePages(name)) return true;
  const size = name.slice(hugePagesPrefix.length);
  try {
    parseQuantity(size);
  } catch {
    return false;
  }
  return signOf(size) > 0 && isWhole(size) && unitsOf(quantity) % unitsOf(size) === 0n;
}

function checkHugePages(
  errors: FieldError[],
  path: string,
  name: string,
  quantity: string,
  { allowsIndivisibleHugePages }: PodRules,
): void {
  if (allowsIndivisibleHugePages || isHugePagesMultiple(name, quantity)) return;
  errors.push(invalid(path, quantity, `${quantity} is not positive integer multiple of ${name}`));
}

/** A claim is used as a whole, or by some of its requests. */
function checkClaims(
  errors: FieldError[],
  path: string,
  claims: readonly { readonly name?: string; readonly request?: string }[],
  known: ReadonlySet<string>,
): void {
  const used = new Set<string>();
  /** Number of used claims that begin with a name and a slash, by that name. */
  const usedBelow = new Map<string, number>();
  const names = known.size === 0 ? ' which is empty' : `: ${sortKeys([...known]).join(', ')}`;
  for (const [i, { name = '', request = '' }] of claims.entries()) {
    const at = index(path, i);
    if (name === '') {
      errors.push(required(at, ''));
      continue;
    }
    if (used.has(name)) errors.push(duplicate(at, name));
    else {
      if (request !== '') checkDnsLabel(errors, child(at, 'request'), request);
      const use = request === '' ? name : `${name}/${request}`;
      if (used.has(use)) errors.push(duplicate(at, use));
      else if (request === '') {
        for (let left = usedBelow.get(name) ?? 0; left > 0; left--) errors.push(duplicate(at, name));
      }
      if (!used.has(use)) countPrefixes(usedBelow, use);
      used.add(use);
    }
    if (!known.has(name)) {
      errors.push({
        ...notFoundValue(at, name),
        detail: `must be one of the names in pod.spec.resourceClaims${names}`,
      });
    }
  }
}

function countPrefixes(counts: Map<string, number>, use: string): void {
  for (let slash = use.indexOf('/'); slash !== -1; slash = use.indexOf('/', slash + 1)) {
    const prefix = use.slice(0, slash);
    counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
  }
}
