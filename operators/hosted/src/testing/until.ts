/** Waits for a state of an object by a watch. */

import type { ApiObject, Client, Kind } from '@hangar/client';
import { findCondition, isConditionTrue } from '@hangar/runtime';
import { HostedControlPlane } from '../api/index.ts';
import { namespace } from './platform.ts';

/** Resolves with the object when the condition holds. */
export async function untilObject<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  name: string,
  holds: (object: T) => boolean,
): Promise<T> {
  const options = {
    namespace,
    fieldSelector: `metadata.name=${name}`,
    sendInitialEvents: true,
    resourceVersionMatch: 'NotOlderThan' as const,
  };
  for (;;) {
    for await (const event of client.watch(kind, options)) {
      if ((event.type === 'ADDED' || event.type === 'MODIFIED') && holds(event.object)) return event.object;
    }
  }
}

export const until = (
  client: Client,
  name: string,
  holds: (object: HostedControlPlane) => boolean,
): Promise<HostedControlPlane> => untilObject(client, HostedControlPlane, name, holds);

export const untilReady = (client: Client, name = 'demo'): Promise<HostedControlPlane> =>
  until(
    client,
    name,
    ({ metadata, status }) =>
      isConditionTrue(status?.conditions, 'Ready') && status?.observedGeneration === metadata.generation,
  );

/** Resolves when a condition has the reason. */
export const untilReason = (client: Client, type: string, reason: string, name = 'demo'): Promise<HostedControlPlane> =>
  until(client, name, ({ status }) => findCondition(status?.conditions, type)?.reason === reason);

/** Resolves when the HostedControlPlane does not exist. */
export async function untilGone(client: Client, name = 'demo'): Promise<void> {
  for (;;) {
    const fieldSelector = `metadata.name=${name}`;
    const { items, resourceVersion } = await client.list(HostedControlPlane, { namespace, fieldSelector });
    if (items.length === 0) return;
    for await (const event of client.watch(HostedControlPlane, { namespace, fieldSelector, resourceVersion })) {
      if (event.type === 'DELETED') return;
    }
  }
}
