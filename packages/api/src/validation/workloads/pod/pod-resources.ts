/** Resources of a pod as a whole, and their relation to those of its containers. */

import { child, forbidden, index, invalid, key } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { sortKeys } from '../../../values/key-order.ts';
import { addQuantities, compareQuantities } from '../../../values/quantity.ts';
import { isHugePages } from '../../shared/resource-names.ts';
import { has, isSet } from '../base/checks.ts';
import type { ResourceList } from '../base/quantities.ts';
import type { Container, PodSpec } from '../types/pod.ts';
import { checkResources } from './resources.ts';
import type { ResourceScope } from './resources.ts';

export function checkPodResources(errors: FieldError[], path: string, spec: PodSpec, scope: ResourceScope): void {
  const { resources } = spec;
  if (!resources) return;
  if (spec.os?.name === 'windows') {
    errors.push(forbidden(path, 'may not be set for a windows pod'));
    return;
  }
  if (isSet(resources.claims)) {
    errors.push(forbidden(child(path, 'claims'), 'claims may not be set for Resources at pod-level'));
  }
  checkResources(errors, path, resources, { ...scope, isPodLevel: true });
  const { requests, limits } = resources;
  const requested = aggregate(spec, 'requests');
  for (const name of sortKeys([...requested.keys()])) {
    checkCovers(errors, key(child(path, 'requests'), name), requests, name, {
      need: requested.get(name)!,
      what: 'requests',
    });
  }
  const limited = aggregate(spec, 'limits');
  for (const name of sortKeys([...limited.keys()]).filter(isHugePages)) {
    checkCovers(errors, key(child(path, 'limits'), name), limits, name, { need: limited.get(name)!, what: 'limits' });
  }
  for (const [i, container] of (spec.containers ?? []).entries()) {
    const own = container.resources?.limits;
    for (const name of sortKeys(Object.keys(own ?? {}))) {
      if (!has(limits, name) || compareQuantities(own![name]!, limits![name]!) <= 0) continue;
      const at = child(key(index(child(path, 'containers'), i), name), 'limits');
      errors.push(invalid(at, own![name], `must be less than or equal to pod limits of ${limits![name]}`));
    }
  }
}

function checkCovers(
  errors: FieldError[],
  path: string,
  pod: ResourceList | undefined,
  name: string,
  { need, what }: { readonly need: string; readonly what: string },
): void {
  if (!has(pod, name) || compareQuantities(need, pod![name]!) <= 0) return;
  const reason = `must be greater than or equal to aggregate container ${what} of ${need}`;
  errors.push(invalid(path, pod![name], reason));
}

type Amounts = Map<string, string>;

/**
 * The maximum that containers need at one time: all long-running ones, or one init container beside the sidecars that were started before
 * it.
 */
function aggregate(spec: PodSpec, kind: 'requests' | 'limits'): Amounts {
  const total: Amounts = new Map();
  for (const container of spec.containers ?? []) add(total, container.resources?.[kind]);
  const sidecars: Amounts = new Map();
  const preparing: Amounts = new Map();
  for (const container of spec.initContainers ?? []) {
    const amounts = container.resources?.[kind];
    if (isSidecar(container)) {
      add(total, amounts);
      add(sidecars, amounts);
      raise(preparing, sidecars);
    } else {
      const together = new Map(sidecars);
      add(together, amounts);
      raise(preparing, together);
    }
  }
  raise(total, preparing);
  return total;
}

const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';

function add(into: Amounts, amounts: ResourceList | undefined): void {
  for (const [name, quantity] of Object.entries(amounts ?? {})) {
    const sum = into.get(name);
    into.set(name, sum === undefined ? quantity : addQuantities(sum, quantity));
  }
}

function raise(into: Amounts, amounts: Amounts): void {
  for (const [name, quantity] of amounts) {
    const most = into.get(name);
    if (most === undefined || compareQuantities(quantity, most) > 0) into.set(name, quantity);
  }
}
