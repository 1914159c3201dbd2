/** The names of resources that are counted: `cpu`, `requests.storage`, `hugepages-2Mi`, `example.com/gpu`. */

import { invalid } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { qualifiedNameReasons } from '../formats.ts';
import { invalidFor, qualifiedNameErrors } from './checks.ts';
import { isWhole, nonNegativeQuantityErrors } from './quantities.ts';

export const hugePagesPrefix = 'hugepages-';
const requests = 'requests.';

const containerNames: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);
const countedObjects = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const quotaNames: ReadonlySet<string> = new Set([
  ...countedObjects,
  ...['', requests, 'limits.'].flatMap((prefix) => [...containerNames].map((name) => prefix + name)),
  'requests.storage',
]);
const standardNames: ReadonlySet<string> = new Set([...quotaNames, 'storage']);
const integerNames: ReadonlySet<string> = new Set(countedObjects);

export const isHugePages = (name: string): boolean => name.startsWith(hugePagesPrefix);
const isQuotaHugePages = (name: string): boolean => isHugePages(name) || name.startsWith(requests + hugePagesPrefix);
export const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');
export const isOvercommitAllowed = (name: string): boolean => isNative(name) && !isHugePages(name);
export const isStandardContainerResource = (name: string): boolean => containerNames.has(name) || isHugePages(name);
export const isStandardQuotaResource = (name: string): boolean => quotaNames.has(name) || isQuotaHugePages(name);
export const isExtended = (name: string): boolean =>
  !isNative(name) && !name.startsWith(requests) && qualifiedNameReasons(requests + name).length === 0;
export const isCountedInIntegers = (name: string): boolean => integerNames.has(name) || isExtended(name);

export function resourceNameErrors(path: string, name: string): FieldError[] {
  const errors = qualifiedNameErrors(path, name);
  if (errors.length > 0 || name.includes('/') || standardNames.has(name) || isQuotaHugePages(name)) return errors;
  return invalidFor(path, name, ['must be a standard resource type or fully qualified']);
}

export function containerResourceNameErrors(path: string, name: string): FieldError[] {
  const errors = resourceNameErrors(path, name);
  if (!name.includes('/')) {
    if (!isStandardContainerResource(name))
      errors.push(invalid(path, name, 'must be a standard resource for containers'));
  } else if (!isNative(name) && !isExtended(name)) {
    errors.push(invalid(path, name, "doesn't follow extended resource name standard"));
  }
  return errors;
}

export function quotaResourceNameErrors(path: string, name: string): FieldError[] {
  const errors = resourceNameErrors(path, name);
  if (name.includes('/') || isStandardQuotaResource(name)) return errors;
  return [...errors, invalid(path, name, 'must be a standard resource for quota')];
}

/** Not negative, and whole where the resource is counted. */
export const resourceQuantityErrors = (path: string, name: string, quantity: unknown): FieldError[] => [
  ...nonNegativeQuantityErrors(path, quantity),
  ...(isCountedInIntegers(name) && !isWhole(quantity) ? [invalid(path, quantity, 'must be an integer')] : []),
];
