/** Sets the priority of a pod from its PriorityClass. At most one class may be the global default. */

import type { KubeObject } from '@hangar/api';
import type { ControlPlane } from '../../control-plane.ts';
import { Followed } from '../../objects/followed.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { find } from './lookup.ts';
import { specOf } from './pod.ts';
import { forbid } from '../refusal.ts';

interface PriorityClass {
  readonly name: string;
  readonly value: number;
  readonly preemptionPolicy: string | undefined;
  readonly isDefault: boolean;
}

const priorityClasses = { group: 'scheduling.k8s.io', version: 'v1', resource: 'priorityclasses' };

const noClass: PriorityClass = { name: '', value: 0, preemptionPolicy: 'PreemptLowerPriority', isDefault: false };

export function priority(plane: ControlPlane): AdmissionPlugin {
  const followed = new Followed(plane, priorityClasses, readClass);

  const defaultClass = async (): Promise<PriorityClass | undefined> => {
    let found: PriorityClass | undefined;
    for (const one of (followed.all ?? (await followed.ready())).values()) {
      if (one.isDefault && (!found || found.value > one.value)) found = one;
    }
    return found;
  };

  const classOf = async (request: AdmissionRequest, name: string): Promise<PriorityClass> => {
    if (name === '') return (await defaultClass()) ?? noClass;
    const found = await find(followed, name);
    if (!found) throw forbid(request, `no PriorityClass with name ${name} was found`);
    return found;
  };

  return {
    name: 'Priority',
    resources: new Set(['/pods', 'scheduling.k8s.io/priorityclasses']),
    async mutate(request) {
      const { operation, subresource, resource, object, old } = request;
      if (resource.name !== 'pods' || subresource !== '') return;
      if (operation === 'UPDATE') return keep(specOf(object!), specOf(old!));
      if (operation !== 'CREATE') return;
      const spec = specOf(object!);
      const { name, value, preemptionPolicy } = await classOf(request, spec.priorityClassName ?? '');
      if (name !== '') spec.priorityClassName = name;
      if ((spec.priority ?? value) !== value) {
        throw forbid(
          request,
          `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
        );
      }
      spec.priority = value;
      if (preemptionPolicy === undefined) return;
      if ((spec.preemptionPolicy ?? preemptionPolicy) !== preemptionPolicy) {
        throw forbid(
          request,
          `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
        );
      }
      spec.preemptionPolicy = preemptionPolicy;
    },
    async validate(request) {
      const { operation, subresource, resource, object } = request;
      if (resource.name !== 'priorityclasses' || subresource !== '' || object?.['globalDefault'] !== true) return;
      const known = await defaultClass();
      if (!known || (operation === 'UPDATE' && known.name === object.metadata.name)) return;
      throw forbid(request, `PriorityClass ${known.name} is already marked as default. Only one default can exist`);
    },
    close: () => followed.close(),
  };
}

/** Keeps values that a client may omit in an update. */
function keep(spec: ReturnType<typeof specOf>, old: ReturnType<typeof specOf>): void {
  if (old.priority !== undefined && old.priority !== null) spec.priority ??= old.priority;
  if (old.preemptionPolicy) spec.preemptionPolicy ??= old.preemptionPolicy;
}

function readClass(object: KubeObject): PriorityClass {
  const { value, preemptionPolicy, globalDefault } = object as {
    value?: number;
    preemptionPolicy?: string | null;
    globalDefault?: boolean;
  };
  return {
    name: object.metadata.name!,
    value: value ?? 0,
    preemptionPolicy: preemptionPolicy ?? undefined,
    isDefault: globalDefault ?? false,
  };
}
