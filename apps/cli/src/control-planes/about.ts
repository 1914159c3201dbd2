/** Reads the objects that belong to a control plane. Each part is read separately: a part that cannot be read is reported as a problem. */

import type { Client } from '@hangar/client';
import { asError, hasCode } from '@hangar/core';
import {
  clusterPathOf,
  ControlPlaneClass,
  ControlPlaneRegistration,
  Event,
  HostedControlPlane,
  isDedicated,
  managementNamespace,
  Tenant,
} from '../kinds.ts';
import type {
  ControlPlaneClassObject,
  ControlPlaneObject,
  ControlPlaneRegistrationObject,
  EventObject,
  HostedControlPlaneObject,
  TenantObject,
} from '../kinds.ts';
import { find } from './optional.ts';

export interface TenantUsage {
  readonly spec?: {
    readonly quota?: { readonly objects?: number; readonly storedBytes?: number; readonly watches?: number };
  };
  readonly status?: {
    readonly objects?: number;
    readonly storedBytes?: number;
    readonly watches?: number;
    readonly requests?: { readonly read?: number; readonly write?: number };
  };
}

/** Undefined: it does not exist. */
export type Part<T> = { readonly value: T | undefined } | { readonly problem: string };

export interface About {
  readonly plane: ControlPlaneObject;
  readonly planeClass: Part<ControlPlaneClassObject>;
  readonly registrations: Part<readonly ControlPlaneRegistrationObject[]>;
  /** Of a virtual control plane. */
  readonly tenant: Part<TenantObject>;
  /** Of a dedicated control plane. */
  readonly hosted: Part<HostedControlPlaneObject>;
  readonly usage: Part<TenantUsage>;
  readonly events: Part<readonly EventObject[]>;
}

const eventsMax = 500;

export async function gatherAbout(client: Client, plane: ControlPlaneObject, signal: AbortSignal): Promise<About> {
  const { name } = plane.metadata;
  const path = clusterPathOf(plane);
  const className = plane.spec?.classRef?.name;
  const ofMode = <T>(wanted: boolean, ask: () => Promise<T | undefined>): Promise<Part<T>> =>
    wanted === isDedicated(plane) ? part(ask) : Promise.resolve({ value: undefined });
  const [planeClass, registrations, tenant, hosted, usage, events] = await Promise.all([
    part(async () => (className === undefined ? undefined : find(client, ControlPlaneClass, className, signal))),
    part(async () => {
      const { items } = await client.list(ControlPlaneRegistration, { signal });
      return items.filter(({ spec }) => spec?.controlPlaneRef?.name === name);
    }),
    ofMode(false, () => find(client, Tenant, path, signal)),
    ofMode(true, () =>
      client.get(HostedControlPlane, { namespace: managementNamespace(plane), name: name! }, { signal }),
    ),
    ofMode(false, () => client.subresource('usage').get<TenantUsage, TenantObject>(Tenant, { name: path }, { signal })),
    part(async () => {
      const fieldSelector = `involvedObject.kind=ControlPlane,involvedObject.name=${name}`;
      return (await client.list(Event, { fieldSelector, limit: eventsMax, signal })).items;
    }),
  ]);
  return { plane, planeClass, registrations, tenant, hosted, usage, events };
}

async function part<T>(ask: () => Promise<T | undefined>): Promise<Part<T>> {
  try {
    return { value: await ask() };
  } catch (error) {
    if (hasCode(error, 'NotFound')) return { value: undefined };
    if (hasCode(error, 'Aborted')) throw error;
    return { problem: asError(error).message };
  }
}
