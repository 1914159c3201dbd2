/**
 * Phase WorkloadSetup: the objects inside the control plane. An annotation of the kubeconfig Secret has their digest, so that a stable
 * control plane causes no requests.
 */

import { find, keyOf } from '@hangar/client';
import { Secret, Service } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import { annotations } from '../../api/index.ts';
import { endpointUrl } from '../../endpoint-url.ts';
import { digestOf } from '../../pki/secrets.ts';
import { adminKubeconfigName, apiServiceName, parseVersion } from '../../render/index.ts';
import type { Plane } from '../../render/index.ts';
import { konnectivityUrl } from '../../workload/konnectivity.ts';
import { workloadObjects } from '../../workload/objects.ts';
import { findObject } from '../apply.ts';
import { applyInside, insideClient, pruneInside } from '../inside.ts';
import type { Rejection } from '../inside.ts';
import type { Pass, Verdict } from '../pass.ts';

/** Codes of errors that say that the server did not respond. */
const unreachable = ['ConnectionFailed', 'ConnectionLost', 'TimedOut', 'ServiceUnavailable', 'Timeout'];
const retryAfterMs = 5_000;

export async function workloadSetup(pass: Pass): Promise<Verdict | undefined> {
  const { authorities, world } = pass;
  if ((pass.apiServer?.available ?? 0) === 0) {
    return { reason: 'WaitingForAPIServer', message: 'no API server is available yet' };
  }
  const plane = completeVersion(pass);
  const service = await find(pass.client, Service, { namespace: plane.namespace, name: apiServiceName(plane) });
  const konnectivity = plane.hasKonnectivity ? konnectivityUrl(plane, service) : undefined;
  if (plane.hasKonnectivity && konnectivity === undefined) {
    const message = `Service ${JSON.stringify(`${plane.namespace}/${apiServiceName(plane)}`)} has no node port for konnectivity yet`;
    return { reason: 'WaitingForService', message };
  }
  const server = endpointUrl(plane.endpoint!);
  const all = workloadObjects(plane, { server, konnectivity, authority: authorities!.ca.trusted });
  const digest = digestOf(all.map(({ object }) => object));
  const key = { namespace: plane.namespace, name: adminKubeconfigName(plane) };
  const secret = await findObject(pass, Secret, key);
  if (!secret || secret.metadata.annotations?.[annotations.workload] === digest) return undefined;
  const client = await insideClient(pass);
  try {
    const rejection = (await applyInside(pass, client, all)) ?? (await pruneInside(pass, client, all));
    if (rejection) return verdictOf(rejection);
  } finally {
    await client.close();
  }
  const { uid } = secret.metadata;
  const body = { metadata: { uid, annotations: { [annotations.workload]: digest } } };
  await world.writes.make('workload-digest', () =>
    pass.client.patch(Secret, keyOf(secret), { type: 'merge', body }, { signal: pass.signal }),
  );
  return undefined;
}

/** kube-proxy must not be newer than the API servers: the objects inside have the version of the last complete roll-out. */
function completeVersion({ plane, hostedControlPlane, isVersionComplete }: Pass): Plane {
  const { version } = hostedControlPlane.status ?? {};
  return isVersionComplete || version === undefined ? plane : { ...plane, version: parseVersion(version) };
}

const webhookNames = [/admission webhook "([^"]+)" denied the request/, /failed calling webhook "([^"]+)"/];

/** Names the webhook of the tenant that rejects or does not respond: only the tenant can fix it. */
function verdictOf({ error, object }: Rejection): Verdict {
  const { kind, metadata } = object;
  const { namespace, name } = metadata;
  const quoted = `${kind} ${JSON.stringify(namespace === undefined ? name : `${namespace}/${name}`)}`;
  const requeueAfterMs = retryAfterMs;
  if (unreachable.some((code) => hasCode(error, code))) {
    const message = `the API server does not respond, retrying: ${error.message}`;
    return { reason: 'APIServerUnreachable', message, requeueAfterMs };
  }
  const [, webhook] = webhookNames.map((pattern) => pattern.exec(error.message)).find((found) => found) ?? [];
  if (webhook !== undefined) {
    const advice = 'change or delete its webhook configuration in the control plane';
    const message = `webhook ${JSON.stringify(webhook)} rejects ${quoted}: ${advice}, retrying: ${error.message}`;
    return { reason: 'WebhookRejected', message, requeueAfterMs };
  }
  const message = `the API server rejected ${quoted}, retrying: ${error.message}`;
  return { reason: 'WorkloadRejected', message, requeueAfterMs };
}
