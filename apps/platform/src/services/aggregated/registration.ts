/** Registers an aggregated API server of this process in the management plane. */

import { defineKind } from '@hangar/client';
import type { Client, Kind as ClientKind, UnknownObject } from '@hangar/client';
import { registration } from '@hangar/server/library';
import type { Kind } from '@hangar/server/library';

export const serviceNamespace = 'kube-system';

/** Host name of servers of this process; also the external name of their Services. */
export const ownHost = 'localhost';

export interface OwnServer {
  /** Name of the Service, which the APIServices refer to. */
  readonly name: string;
  readonly kinds: readonly Kind[];
  readonly port: number;
  readonly ca: string;
}

/** Returns a Service and the APIServices; they can also be created inside of a control plane. */
export function registrationObjects({ name, kinds, port, ca }: OwnServer): UnknownObject[] {
  const service = { namespace: serviceNamespace, name, port };
  return [
    {
      kind: 'Service',
      apiVersion: 'v1',
      metadata: { namespace: serviceNamespace, name },
      spec: { type: 'ExternalName', externalName: ownHost },
    },
    ...(registration({ kinds, service, ca }) as UnknownObject[]),
  ];
}

const services = defineKind({ apiVersion: 'v1', kind: 'Service', plural: 'services', isNamespaced: true });
const apiServices = defineKind({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  plural: 'apiservices',
  isNamespaced: false,
});

/** Creates the objects, or changes those of an earlier start: the port and the CA are new. */
export async function register(client: Client, server: OwnServer, signal: AbortSignal): Promise<void> {
  for (const object of registrationObjects(server)) {
    const kind: ClientKind = object.kind === 'Service' ? services : apiServices;
    await client.apply(kind, object, { fieldManager: 'hangar-services', force: true, signal });
  }
}
