/** Measures the effect of one tenant on another: by flooding the server, or by being destroyed. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Hangar } from './hangar.ts';
import { createTenants, get, tenantName, write } from './load.ts';
import type { Got } from './load.ts';

/** A regular user: four connections, each a get every ten milliseconds. */
const working = { connections: 4, intervalMs: 10 };
const floodConnections = 64;
const rounds = 5;

export interface Neighbour {
  readonly quietP99Ms: number;
  readonly p99Ms: number;
  readonly quietP50Ms: number;
  readonly p50Ms: number;
}

export interface Flood extends Neighbour {
  readonly floodPerSecond: number;
  readonly refusedPerSecond: number;
}

export async function flood(nodeFlags: readonly string[], durationMs: number): Promise<Flood> {
  return Hangar.use(nodeFlags, async (hangar) => {
    const kubeconfigOf = await two(hangar);
    const neighbour = (): Promise<Got> => get({ kubeconfig: kubeconfigOf(0), ...working, durationMs });
    const flooding = (forMs: number): Promise<Got> =>
      get({
        kubeconfig: kubeconfigOf(1),
        connections: floodConnections,
        intervalMs: 0,
        durationMs: forMs,
        isElsewhere: true,
      });
    await neighbour();
    await flooding(durationMs);
    const quiet: Got[] = [];
    const disturbed: Got[] = [];
    const floods: Got[] = [];
    for (let round = 0; round < rounds; round++) {
      quiet.push(await neighbour());
      const flooded = flooding(durationMs + 2 * aroundMs);
      await sleep(aroundMs);
      disturbed.push(await neighbour());
      floods.push(await flooded);
    }
    return {
      ...compared(quiet, disturbed),
      floodPerSecond: median(floods.map(({ answered, elapsedMs }) => (answered.count / elapsedMs) * 1000)),
      refusedPerSecond: median(floods.map(({ refused, elapsedMs }) => (refused / elapsedMs) * 1000)),
    };
  });
}

/** The flood starts before the neighbour is measured, and ends after. */
const aroundMs = 1_000;

export interface Destroyed extends Neighbour {
  readonly objects: number;
  readonly destroyMs: number;
}

const destroyRounds = 3;
const filler = 'x'.repeat(1024);

export async function destroy(nodeFlags: readonly string[], objects: number): Promise<Destroyed> {
  return Hangar.use(nodeFlags, async (hangar) => {
    const kubeconfigOf = await two(hangar);
    const neighbour = (): Promise<Got> => get({ kubeconfig: kubeconfigOf(0), ...working, durationMs: destroyWindowMs });
    const quiet: Got[] = [];
    const disturbed: Got[] = [];
    const times: number[] = [];
    await neighbour();
    for (let round = 0; round < destroyRounds; round++) {
      const range = { prefix: 'doomed', from: round, count: 1 };
      await createTenants(hangar, range);
      await write(hangar, { ...range, workers: 16, within: true }, [
        {
          method: 'POST',
          path: '/api/v1/namespaces/default/configmaps',
          body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'object-{n}' }, data: { filler } },
          status: 201,
          times: objects,
        },
      ]);
      quiet.push(await neighbour());
      const measuring = neighbour();
      await sleep(destroyWindowMs / 4);
      const administrator = await hangar.connect();
      const begun = performance.now();
      const path = `/apis/tenancy.hangar.dev/v1alpha1/tenants/${tenantName(round, 'doomed')}`;
      const { status, body } = await administrator.request('DELETE', path);
      if (status !== 200) throw new Error(`DELETE ${path}: ${status} ${body.toString()}`);
      await gone(hangar, tenantName(round, 'doomed'));
      times.push(performance.now() - begun);
      administrator.close();
      disturbed.push(await measuring);
    }
    return { objects, destroyMs: median(times), ...compared(quiet, disturbed) };
  });
}

const destroyWindowMs = 2_000;

/** Resolves when its path answers that there is no such tenant. */
async function gone(hangar: Hangar, name: string): Promise<void> {
  const connection = await hangar.connect();
  for (;;) {
    const { status } = await connection.request('GET', `/clusters/${name}/control-plane/api/v1/namespaces`);
    if (status === 404) break;
    await sleep(1);
  }
  connection.close();
}

/** Creates two tenants; returns the paths of their kubeconfigs. */
async function two(hangar: Hangar): Promise<(n: number) => string> {
  const keep = hangar.file('kubeconfigs');
  await mkdir(keep);
  await createTenants(hangar, { prefix: 'neighbour', count: 2 }, keep);
  return (n) => join(keep, tenantName(n, 'neighbour'));
}

function compared(quiet: readonly Got[], disturbed: readonly Got[]): Neighbour {
  return {
    quietP99Ms: median(quiet.map(({ answered }) => answered.p99Ms)),
    p99Ms: median(disturbed.map(({ answered }) => answered.p99Ms)),
    quietP50Ms: median(quiet.map(({ answered }) => answered.p50Ms)),
    p50Ms: median(disturbed.map(({ answered }) => answered.p50Ms)),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
