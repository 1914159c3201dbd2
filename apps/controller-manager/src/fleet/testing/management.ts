/** testing: a management plane in process, with the real definitions of the kinds of a fleet. */

import { readFileSync } from 'node:fs';
import { RestClient } from '@hangar/client';
import type { Client, ObjectKey } from '@hangar/client';
import { Namespace, Secret } from '@hangar/client/kinds/core-v1';
import { Logger, seededRandom, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { ControlPlaneEndpoint, ControlPlaneRegistration } from '@hangar/runtime/clusters';
import { administrator, faultyTransport, installCrd, startTestCluster } from '@hangar/testkit';
import type { FaultyTransport, TestCluster, TestUser } from '@hangar/testkit';

const folder = new URL('../../../../../deploy/crds/', import.meta.url);

export interface ManagementWorld extends AsyncDisposable {
  readonly cluster: TestCluster;
  /** For the test. */
  readonly client: Client;
  /** For the code under test: through `faults`. */
  readonly watched: Client;
  readonly faults: FaultyTransport;
  readonly log: Logger;
  readonly lines: string[];
}

export interface ManagementWorldOptions {
  readonly clock?: Clock;
  readonly authorization?: 'masters' | 'rbac';
  /** User of `watched`. Absent: an administrator. */
  readonly user?: TestUser;
}

export async function startManagementWorld(options: ManagementWorldOptions = {}): Promise<ManagementWorld> {
  const { clock = systemClock, authorization = 'masters', user = administrator } = options;
  const cluster = await startTestCluster({ authorization, ...(options.clock ? { clock } : {}) });
  await installKinds(cluster.client, clock);
  const faults = faultyTransport(cluster.transportOf(user), { clock });
  const lines: string[] = [];
  const log = new Logger({ level: 'debug', format: 'text', clock, write: (line) => lines.push(line) });
  // Without retries: the code under test retries itself.
  const watched = new RestClient(faults, { clock, random: seededRandom(7), retry: false });
  return {
    cluster,
    client: cluster.client,
    watched,
    faults,
    log,
    lines,
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

export async function installKinds(client: Client, clock: Clock = systemClock): Promise<void> {
  for (const { plural } of [ControlPlaneRegistration, ControlPlaneEndpoint]) {
    // Synchronous: virtual time does not wait for files.
    const definition = readFileSync(new URL(`${plural}.controlplane.kplane.dev.yaml`, folder), 'utf8');
    await installCrd(client, definition, { clock });
  }
}

export interface Registered {
  readonly controlPlane?: string;
  readonly services?: readonly string[];
  readonly labels?: Record<string, string>;
  readonly mode?: string;
}

/** Defaults: `controllers`, for the control plane of the same name. */
export function register(client: Client, name: string, given: Registered = {}) {
  const { controlPlane = name, services = ['controllers'], labels = {}, mode } = given;
  return client.create(ControlPlaneRegistration, {
    metadata: { name, labels },
    spec: { controlPlaneRef: { name: controlPlane }, services: [...services], ...(mode ? { mode } : {}) },
  });
}

/** Resolves a registration as the operator does; undefined: it is no longer ready. */
export async function resolve(
  client: Client,
  name: string,
  secret: ObjectKey | undefined,
  endpoint = `https://${name}`,
): Promise<void> {
  const { metadata } = await client.get(ControlPlaneRegistration, { name });
  const resolved = secret
    ? { ready: true, resolvedEndpoint: endpoint, resolvedKubeconfigSecretRef: secret }
    : { ready: false, resolvedEndpoint: null, resolvedKubeconfigSecretRef: null };
  const body = { status: { ...resolved, observedGeneration: metadata.generation } };
  await client.status.patch(ControlPlaneRegistration, { name }, { type: 'merge', body });
}

export const changeSpec = (client: Client, name: string, spec: object) =>
  client.patch(ControlPlaneRegistration, { name }, { type: 'merge', body: { spec } });

export async function makeNamespace(client: Client, name: string): Promise<void> {
  await client.create(Namespace, { metadata: { name } });
}

/** Creates or updates the Secret. */
export async function putSecret(client: Client, { namespace, name }: ObjectKey, data: Record<string, string>) {
  const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  const body = { metadata: { namespace, name }, data: Object.fromEntries(encoded) as Record<string, string> };
  await client.apply(Secret, body as never, { fieldManager: 'test', force: true });
}
