/** Reads and writes the conditions of the objects that stand for clusters, in the management plane. Every call has a timeout. */

import { find } from '@hangar/client';
import type { ApiObject, ApplyConfiguration, Client, Kind } from '@hangar/client';
import type { Condition } from '@hangar/client/kinds/meta-v1';
import type { Clock } from '@hangar/core';
import { ControlPlaneEndpoint, ControlPlaneRegistration, endpointServices } from '@hangar/runtime/clusters';
import type { ControllerManagerReference, EndpointObject, RegistrationObject } from '@hangar/runtime/clusters';
import type { Service, SourceObject } from '../contract.ts';
import { registeredServices, serviceSet } from '../fleet/index.ts';
import { within } from '../fleet/within.ts';
import { conditionTypes, fieldManagers } from './condition-of.ts';

export interface ObjectConditions {
  readonly conditions: readonly Condition[];
  /** The controller manager that wrote them. */
  readonly controllerManager: ControllerManagerReference | undefined;
  readonly services: ReadonlySet<Service>;
}

interface WithConditions extends ApiObject {
  status?: { controllerManager?: ControllerManagerReference | null; conditions?: Condition[] };
}

const requestTimeoutMs = 10_000;

const kinds: Readonly<Record<SourceObject['kind'], Kind<WithConditions>>> = {
  ControlPlaneRegistration: ControlPlaneRegistration as unknown as Kind<WithConditions>,
  ControlPlaneEndpoint: ControlPlaneEndpoint as unknown as Kind<WithConditions>,
};

export interface ManagedConditionsOptions {
  readonly management: Client;
  readonly clock: Clock;
  /** Written with each condition. Undefined: this process renews no Lease, so its conditions never expire. */
  readonly controllerManager?: ControllerManagerReference | undefined;
}

export class ManagedConditions {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #controllerManager: ControllerManagerReference | undefined;

  constructor({ management, clock, controllerManager }: ManagedConditionsOptions) {
    this.#client = management;
    this.#clock = clock;
    this.#controllerManager = controllerManager;
  }

  /** Undefined: it was deleted, or another object has its name. */
  async read({ kind, name, uid }: SourceObject, signal: AbortSignal): Promise<ObjectConditions | undefined> {
    const object = await this.#within(signal, (signal) => find(this.#client, kinds[kind], { name }, { signal }));
    return object && object.metadata.uid === uid ? conditionsOf(object) : undefined;
  }

  /**
   * Resolves with the uid of the object: servers ignore the uid in an apply to a status, and another object may have the name by then.
   * Rejects with `NotFound`.
   */
  async apply(source: SourceObject, service: Service, condition: Condition, signal: AbortSignal): Promise<string> {
    const { kind: kindName, name } = source;
    const kind = kinds[kindName];
    const said = {
      apiVersion: kind.apiVersion,
      kind: kindName,
      metadata: { name },
      status: {
        ...(this.#controllerManager ? { controllerManager: this.#controllerManager } : {}),
        conditions: [condition],
      },
    };
    // Takes ownership: this process is the only owner of the condition.
    const options = { fieldManager: fieldManagers[service], force: true };
    const { metadata } = await this.#within(signal, (signal) =>
      this.#client.status.apply(kind, said as ApplyConfiguration<WithConditions>, { ...options, signal }),
    );
    return metadata.uid ?? '';
  }

  /**
   * Removes the condition for all field owners: an apply without it would leave fields that others own. Resolves also when there is no
   * condition or no object. Rejects with `Invalid` when the list changed meanwhile; retry then.
   */
  async remove(source: SourceObject, service: Service, signal: AbortSignal): Promise<void> {
    const object = await this.read(source, signal);
    const type = conditionTypes[service];
    const at = object?.conditions.findIndex((one) => one.type === type) ?? -1;
    if (at < 0) return;
    const path = `/status/conditions/${at}`;
    const body = [
      { op: 'test', path: '/metadata/uid', value: source.uid },
      { op: 'test', path: `${path}/type`, value: type },
      { op: 'remove', path },
      // Removed with the last condition: nothing is left that could expire.
      ...(object?.controllerManager && !this.#hasOthers(object, type)
        ? [{ op: 'remove', path: '/status/controllerManager' }]
        : []),
    ];
    const { kind, name } = source;
    const options = { fieldManager: fieldManagers[service] };
    await this.#within(signal, (signal) =>
      this.#client.status.patch(kinds[kind], { name }, { type: 'json', body }, { ...options, signal }),
    );
  }

  #hasOthers({ conditions }: ObjectConditions, but: string): boolean {
    return conditions.some(({ type }) => type !== but && Object.values(conditionTypes).includes(type));
  }

  #within<T>(signal: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return within(this.#clock, requestTimeoutMs, signal, call);
  }
}

/** Returns the conditions of an object of either kind. */
export const conditionsOf = (object: ApiObject): ObjectConditions => ({
  conditions: (object as WithConditions).status?.conditions ?? [],
  controllerManager: (object as WithConditions).status?.controllerManager ?? undefined,
  services:
    object.kind === 'ControlPlaneRegistration'
      ? registeredServices(object as RegistrationObject)
      : serviceSet(endpointServices(object as EndpointObject)),
});
