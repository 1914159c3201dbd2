/** Waiting for the state of an object, by a watch: no test sleeps for luck. */

import type { ApiObject, Client, Kind } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { findCondition } from '@hangar/runtime';
import { ControlPlane } from '../api/index.ts';

const withinMs = 20_000;

/** Resolves with the first state of the object for which the condition holds; undefined stands for deleted. */
export async function until<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  name: string,
  isSo: (object: T | undefined) => boolean,
  namespace?: string,
): Promise<T | undefined> {
  const signal = AbortSignal.timeout(withinMs);
  const one = { namespace, fieldSelector: `metadata.name=${name}` };
  const { items, resourceVersion } = await client.list(kind, one);
  let last: T | undefined = items[0];
  if (isSo(last)) return last;
  try {
    for await (const event of client.watch(kind, { ...one, resourceVersion, signal })) {
      if (event.type === 'BOOKMARK') continue;
      last = event.type === 'DELETED' ? undefined : event.object;
      if (isSo(last)) return last;
    }
  } catch (error) {
    throw new Error(`${kind.kind} ${name} did not become so: ${JSON.stringify(last, undefined, 1)}`, { cause: error });
  }
  throw new Error(`the watch of ${kind.kind} ${name} ended`);
}

export const untilReady = async (client: Client, name: string): Promise<ControlPlane> =>
  (await until(client, ControlPlane, name, isReady))!;

/** Of its newest spec: a control plane that was ready stays ready while a change is set up. */
export function isReady(one: ControlPlane | undefined): boolean {
  const ready = findCondition(one?.status?.conditions, 'Ready');
  return ready?.status === 'True' && ready.observedGeneration === one!.metadata.generation;
}

export const untilReason = async (
  client: Client,
  name: string,
  reason: string,
  type = 'Ready',
): Promise<ControlPlane> =>
  (await until(
    client,
    ControlPlane,
    name,
    (one) => one?.status?.conditions?.some((c) => c.type === type && c.reason === reason) ?? false,
  ))!;

export const untilGone = <T extends ApiObject>(client: Client, kind: Kind<T>, name: string): Promise<unknown> =>
  until(client, kind, name, (one) => one === undefined);

export async function untilSecret(
  client: Client,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  isSo: (secret: Secret | undefined) => boolean,
): Promise<Secret> {
  return (await until(client, Secret, name, (one) => isSo(one), namespace))!;
}
