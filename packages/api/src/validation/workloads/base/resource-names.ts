/** What resources may be called where: `cpu`, `hugepages-2Mi`, `example.com/gpu`. */

import { invalid } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { qualifiedNameReasons } from '../../formats.ts';
import { checkReasons } from './checks.ts';

const containerResources = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** Counted, not measured. */
const integerResources = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);

const standardResources = new Set([
  ...integerResources,
  ...containerResources,
  'storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);

export const hugePagesPrefix = 'hugepages-';
export const isHugePages = (name: string): boolean => name.startsWith(hugePagesPrefix);
const isQuotaHugePages = (name: string): boolean => isHugePages(name) || name.startsWith('requests.hugepages-');

export const isNativeResource = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');

/** Must be usable in a quota too, where it is prefixed. */
export const isExtendedResource = (name: string): boolean =>
  !isNativeResource(name) && !name.startsWith('requests.') && qualifiedNameReasons(`requests.${name}`).length === 0;

export const isIntegerResource = (name: string): boolean => integerResources.has(name) || isExtendedResource(name);
export const isOvercommitAllowed = (name: string): boolean => isNativeResource(name) && !isHugePages(name);

/** Answers whether the name is well-formed at all. */
export function checkResourceName(errors: FieldError[], path: string, name: string): boolean {
  const reasons = qualifiedNameReasons(name);
  checkReasons(errors, path, name, reasons);
  if (reasons.length > 0) return false;
  if (name.includes('/') || standardResources.has(name) || isQuotaHugePages(name)) return true;
  errors.push(invalid(path, name, 'must be a standard resource type or fully qualified'));
  return false;
}

export function checkContainerResourceName(errors: FieldError[], path: string, name: string): void {
  checkResourceName(errors, path, name);
  if (!name.includes('/')) {
    if (!containerResources.has(name) && !isHugePages(name)) {
      errors.push(invalid(path, name, 'must be a standard resource for containers'));
    }
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    errors.push(invalid(path, name, "doesn't follow extended resource name standard"));
  }
}
