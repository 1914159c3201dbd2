/** Sets the overhead and the scheduling constraints of a pod from its RuntimeClass. */

import { quote } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import type { ControlPlane } from '../../control-plane.ts';
import { Followed } from '../../objects/followed.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { amountsOf, isEqual, listOf } from '@hangar/api/quota';
import type { Amounts } from '@hangar/api/quota';
import { find } from './lookup.ts';
import { podOf, podResources, specOf } from './pod.ts';
import type { List, PodSpec, ResourceList, TextMap, Toleration } from './pod.ts';
import { forbid } from '../refusal.ts';
import { mergeTolerations } from './tolerations.ts';

interface RuntimeClass {
  /** Undefined: not set by the class. */
  readonly overhead: Amounts | undefined;
  readonly scheduling:
    | { readonly nodeSelector: ReadonlyMap<string, string>; readonly tolerations: readonly Toleration[] }
    | undefined;
}

const runtimeClasses = { group: 'node.k8s.io', version: 'v1', resource: 'runtimeclasses' };

export function runtimeClass(plane: ControlPlane): AdmissionPlugin {
  const followed = new Followed(plane, runtimeClasses, readClass);

  const classOf = async (
    request: AdmissionRequest,
    { runtimeClassName }: PodSpec,
  ): Promise<RuntimeClass | undefined> => {
    if (runtimeClassName === undefined || runtimeClassName === null) return undefined;
    const found = await find(followed, runtimeClassName);
    if (!found) throw forbid(request, `pod rejected: RuntimeClass ${quote(runtimeClassName)} not found`);
    return found;
  };

  return {
    name: 'RuntimeClass',
    resources: podResources,
    async mutate(request) {
      const pod = request.operation === 'CREATE' ? podOf(request) : undefined;
      if (!pod) return;
      const spec = specOf(pod);
      const found = await classOf(request, spec);
      if (found?.overhead) setOverhead(request, spec, found.overhead);
      if (found?.scheduling) setScheduling(request, spec, found.scheduling);
    },
    async validate(request) {
      const pod = request.operation === 'CREATE' ? podOf(request) : undefined;
      if (!pod) return;
      const spec = specOf(pod);
      const overhead = (await classOf(request, spec))?.overhead;
      if (overhead) {
        if (!isEqual(overhead, amountsOf(spec.overhead))) throw forbid(request, otherOverhead);
      } else if (spec.overhead) {
        throw forbid(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
      }
    },
    close: () => followed.close(),
  };
}

const otherOverhead = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

function setOverhead(request: AdmissionRequest, spec: PodSpec, overhead: Amounts): void {
  const given = amountsOf(spec.overhead);
  if (given.size > 0 && !isEqual(overhead, given)) throw forbid(request, otherOverhead);
  if (overhead.size > 0) spec.overhead = listOf(overhead);
}

function setScheduling(
  request: AdmissionRequest,
  spec: PodSpec,
  { nodeSelector, tolerations }: NonNullable<RuntimeClass['scheduling']>,
): void {
  const selector = new Map(Object.entries(spec.nodeSelector ?? {}));
  for (const [key, value] of nodeSelector) {
    const own = selector.get(key);
    if (own !== undefined && own !== value) {
      throw forbid(
        request,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
      );
    }
    selector.set(key, value);
  }
  if (selector.size > 0) spec.nodeSelector = Object.fromEntries(selector);
  spec.tolerations = mergeTolerations(spec.tolerations ?? [], tolerations);
}

function readClass(object: KubeObject): RuntimeClass {
  const { overhead, scheduling } = object as {
    overhead?: { podFixed?: ResourceList } | null;
    scheduling?: { nodeSelector?: TextMap; tolerations?: List<Toleration> } | null;
  };
  return {
    overhead: overhead ? amountsOf(overhead.podFixed) : undefined,
    scheduling: scheduling
      ? {
          nodeSelector: new Map(Object.entries(scheduling.nodeSelector ?? {})),
          tolerations: scheduling.tolerations ?? [],
        }
      : undefined,
  };
}
