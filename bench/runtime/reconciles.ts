/** How many requests a process gets through when its reconciler has nothing to do: what the runtime itself costs. */

import { Hangar } from '../tenants/hangar.ts';
import { createTenants, tenantName, write } from '../tenants/load.ts';
import { table, thousands } from '../table.ts';
import type { Shares } from './profile.ts';
import { Program } from './program.ts';
import type { NoOps, ReconcilesOptions, Synced } from './programs/reconciles.ts';

export interface Reconciles {
  readonly noOps: readonly NoOps[];
  readonly objects: number;
  readonly first: Synced;
  /** The median of those after the first. */
  readonly warm: Synced;
  readonly profile: Shares;
}

export const planePath = (tenant: string): string => `/clusters/${tenant}/control-plane`;

export async function reconciles(objects: number, rounds: number): Promise<Reconciles> {
  return Hangar.use([], async (hangar) => {
    await createTenants(hangar, { count: 1 });
    await write(hangar, { count: 1, within: true }, [configMaps(objects)]);
    const path = planePath(tenantName(0));
    const options: ReconcilesOptions = { kubeconfig: hangar.kubeconfig, path, objects, rounds };
    const noOps: NoOps[] = [];
    const synced: Synced[] = [];
    let profile: Shares = {};
    await using program = new Program('reconciles', options, {
      onSaid(what, value) {
        if (what === 'no-ops') noOps.push(value);
        if (what === 'synced') synced.push(value);
        if (what === 'profile') profile = value;
      },
    });
    await program.heard('done');
    const [first, ...others] = synced;
    others.sort((one, other) => one.elapsedMs - other.elapsedMs);
    const warm = others[Math.floor(others.length / 2)] ?? first!;
    const result = { noOps, objects, first: first!, warm, profile };
    print(result);
    return result;
  });
}

export const perSecond = ({ objects, warm }: Reconciles): number => objects / (warm.elapsedMs / 1_000);

const configMaps = (times: number) => ({
  method: 'POST',
  path: '/api/v1/namespaces/default/configmaps',
  body: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'object-{n}', labels: { 'app.kubernetes.io/name': 'bench' } },
    data: { filler: 'x'.repeat(256) },
  },
  status: 201,
  times,
});

function print({ noOps, objects, first, warm }: Reconciles): void {
  console.log(
    table(
      ['  a reconciler that …', 'clusters', 'reconciles/s'],
      noOps.map(({ what, clusters, perSecond }) => [`  ${what}`, thousands(clusters), thousands(perSecond)]),
    ),
  );
  const rate = ({ elapsedMs }: Synced): string => thousands(objects / (elapsedMs / 1_000));
  console.log(
    `  ${thousands(objects)} ConfigMaps of a Hangar in another process, over TLS, from the start of the manager to the last reconcile: ` +
      `${(first.elapsedMs / 1_000).toFixed(2)} s the first time (${rate(first)}/s), ${(warm.elapsedMs / 1_000).toFixed(2)} s again in the same process (${rate(warm)}/s, ${((warm.cpuMs / objects) * 1_000).toFixed(0)} µs of CPU each)`,
  );
}
