/** One or more Hangars on one real etcd, as replicas run: the same keys and certificates, the same address for tenants. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEtcd } from '../../../packages/store/src/drivers/etcd/testing/etcd-process.ts';
import { startHangar } from '../../conformance/servers/index.ts';
import type { ControlPlane } from '../../conformance/servers/index.ts';
import { Access } from './access.ts';
import type { Data } from './access.ts';

export const tenants = '/apis/tenancy.hangar.dev/v1alpha1/tenants';
/** Never connected to: each replica is requested under its own address. */
export const externalUrl = 'https://hangar.test:6443';

export interface Replica {
  readonly plane: ControlPlane;
  /** The platform's administrator. */
  readonly root: Access;
  /** The path of a tenant's control plane on this replica. */
  tenantUrl(name: string): string;
}

export interface Hangars extends AsyncDisposable {
  readonly etcdUrl: string;
  readonly replicas: readonly Replica[];
  /** Removed with them. */
  readonly folder: string;
}

/** `prepare` may write files that arguments name. */
export async function startHangars(
  count: number,
  prepare: (folder: string) => Promise<readonly string[]> = () => Promise.resolve([]),
): Promise<Hangars> {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'hangar-replicas-'));
  started.defer(() => rm(folder, { recursive: true, force: true }));
  const more = await prepare(folder);
  const etcd = await startEtcd({ unsafeNoFsync: true });
  started.defer(() => etcd.stop());
  const etcdUrl = etcd.endpoints[0]!;
  const replicas: Replica[] = [];
  // One after the other: the first one creates the keys that all of them share.
  for (let at = 0; at < count; at++) {
    const plane = await startHangar([
      '--store=etcd',
      `--etcd-endpoints=${etcdUrl}`,
      `--data-dir=${folder}/data`,
      `--external-url=${externalUrl}`,
      ...more,
    ]);
    started.defer(() => plane.stop());
    const root = await Access.of(plane.kubeconfig);
    started.defer(() => root[Symbol.dispose]());
    replicas.push({ plane, root, tenantUrl: (name) => `${plane.url}/clusters/${name}/control-plane` });
  }
  const running = started.move();
  return { etcdUrl, replicas, folder, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

export const tenant = (name: string, spec: object = {}): object => ({
  kind: 'Tenant',
  apiVersion: 'tenancy.hangar.dev/v1alpha1',
  metadata: { name },
  spec: { deletionPolicy: 'Destroy', ...spec },
});

/** Returns access for a tenant's administrator, by a certificate of the tenant's own CA. */
export async function administratorOf(replica: Replica, name: string): Promise<Access> {
  const { status } = (await replica.root.create(`${tenants}/${name}/kubeconfig`, {})) as Data;
  return Access.from(status.kubeconfig).as({ url: replica.tenantUrl(name) });
}

export async function eventually<T>(
  what: string,
  probe: () => Promise<T | undefined | false>,
  withinMs = 10_000,
): Promise<T> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadlineMs) throw new Error(`it did not happen: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
