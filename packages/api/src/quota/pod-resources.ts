/**
 * Computes the maximum that a pod needs at one time: all containers together with the sidecars, or one init container with the sidecars
 * that started before it.
 */

import { addInto, amountsOf, raiseInto, sum } from './amounts.ts';
import type { Amounts, MutableAmounts } from './amounts.ts';
import { sizedSpecOf } from './pod.ts';
import type { ResourceList, Resources, SizedContainer, SizedPod, SizedPodSpec } from './pod.ts';

export type Which = 'requests' | 'limits';

const written =
  (which: Which) =>
  (container: SizedContainer): Amounts =>
    amountsOf(container.resources?.[which]);

/** `of` returns the needs of one container; absent: those of its spec. */
export function containersTogether(
  { containers, initContainers }: SizedPodSpec,
  which: Which,
  of: (container: SizedContainer, isInit: boolean) => Amounts = written(which),
): MutableAmounts {
  const total: MutableAmounts = new Map();
  for (const container of containers ?? []) addInto(total, of(container, false));
  const sidecars: MutableAmounts = new Map();
  const starting: MutableAmounts = new Map();
  for (const container of initContainers ?? []) {
    const own = of(container, true);
    if (isSidecar(container)) {
      addInto(total, own);
      addInto(sidecars, own);
      raiseInto(starting, sidecars);
    } else {
      const together = new Map(own);
      addInto(together, sidecars);
      raiseInto(starting, together);
    }
  }
  raiseInto(total, starting);
  return total;
}

export const isSidecar = ({ restartPolicy }: SizedContainer): boolean => restartPolicy === 'Always';

export interface PodTotalOptions {
  /** Resources of a running container count too, while it is being resized. */
  readonly countsStatus: boolean;
}

/** Returns the total of all containers, or the resources of the pod as a whole; with the overhead. */
export function podTotal(pod: SizedPod, which: Which, { countsStatus }: PodTotalOptions): MutableAmounts {
  const spec = sizedSpecOf(pod);
  const total = containersTogether(spec, which, countsStatus ? inEffect(pod, which) : undefined);
  for (const [name, amount] of amountsOf(spec.resources?.[which])) if (isOfPods(name)) total.set(name, amount);
  for (const [name, amount] of amountsOf(spec.overhead)) {
    const old = total.get(name);
    // The overhead does not limit an unlimited resource.
    if (which === 'limits' && (!old || old.nanos === 0n)) continue;
    total.set(name, old ? sum(old, amount) : amount);
  }
  return total;
}

/** Reports whether a pod may set the resource as a whole, instead of its containers. */
export const isOfPods = (name: string): boolean => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');

function inEffect(pod: SizedPod, which: Which): (container: SizedContainer, isInit: boolean) => Amounts {
  const { containerStatuses, initContainerStatuses } = pod.status ?? {};
  const statuses = new Map(
    [...(containerStatuses ?? []), ...(initContainerStatuses ?? [])].map((status) => [status.name ?? '', status]),
  );
  return (container, isInit) => {
    const own = amountsOf(container.resources?.[which]);
    const status = isInit && !isSidecar(container) ? undefined : statuses.get(container.name ?? '');
    if (!status?.resources) return own;
    return effectiveOf(pod, which, { own, has: status.resources, allocated: status.allocatedResources });
  };
}

interface Sized {
  readonly own: Amounts;
  readonly has: Resources;
  readonly allocated: ResourceList;
}

/** Returns the maximum of requested, actual and allocated resources; the request does not count if it is infeasible. */
function effectiveOf(pod: SizedPod, which: Which, { own, has, allocated }: Sized): MutableAmounts {
  const effective: MutableAmounts = isInfeasible(pod) ? new Map() : new Map(own);
  raiseInto(effective, amountsOf(has[which]));
  if (which === 'requests') raiseInto(effective, amountsOf(allocated));
  return effective;
}

const isInfeasible = ({ status }: SizedPod): boolean =>
  status?.conditions?.find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible';

/** Reports whether it is a resource of Kubernetes itself. */
export const isNativeResource = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');

/** Reports whether it is an extended resource, such as a device, which only some nodes have. */
export const isExtendedResource = (name: string): boolean => !isNativeResource(name) && !name.startsWith('requests.');
