/**
 * Runs the operator with exactly its declared permissions, through the whole life of control planes: no request is refused, and no
 * permission is unused. Runs against both kinds of management plane.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { RestClient } from '@hangar/client';
import type { Client, HttpTransport } from '@hangar/client';
import { ConfigMap, Namespace, Secret } from '@hangar/client/kinds/core-v1';
import { ClusterRole, ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import type { PolicyRule } from '@hangar/client/kinds/rbac-v1';
import { Logger, systemClock } from '@hangar/core';
import { Rights, startTestFleet, testAuthority } from '@hangar/testkit';
import {
  ControlPlane,
  ControlPlaneClass,
  ControlPlaneEndpoint,
  ControlPlaneRegistration,
  labels,
} from '../api/index.ts';
import { installDefinitions } from '../api/install.ts';
import { hostedDouble, installHosted } from '../dedicated/testing/hosted-double.ts';
import { edge, installGatewayApi, makeClass, TlsRoute } from '../gateway/testing/gateway-api.ts';
import { issuedPair, Tenant } from '../host/index.ts';
import type { TenantHost } from '../host/index.ts';
import { controlPlaneOperator } from '../operator.ts';
import { electionRules, hostRules, operatorRules } from '../rbac.ts';
import { namespaceEnder } from './namespace-ender.ts';
import { until, untilGone, untilReady, untilReason } from './until.ts';

export const operatorUser = 'hangar-operator';

export interface ManagementPlane extends AsyncDisposable {
  /** Administrator. */
  readonly client: Client;
  /** As `operatorUser`. */
  readonly transport: HttpTransport;
}

async function grant(client: Client, name: string, rules: readonly PolicyRule[]): Promise<void> {
  await client.create(ClusterRole, { metadata: { name }, rules: [...rules] });
  await client.create(ClusterRoleBinding, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: operatorUser }],
  });
}

const ownership = (rules: readonly PolicyRule[]): boolean =>
  rules.every(({ resources }) => resources!.every((one) => one.endsWith('/finalizers')));

export function rightsSuite(title: string, start: () => Promise<ManagementPlane>): void {
  describe(`the rights of the operator on ${title}`, () => {
    test('are enough, and none is too many', async () => {
      await using opened = new AsyncDisposableStack();
      const management = opened.use(await start());
      const { client } = management;
      const fleet = opened.use(await startTestFleet({ clusters: [], authorization: 'rbac' }));
      await installDefinitions(client);
      await grant(client, 'operator', [...operatorRules, ...electionRules]);
      await grant(fleet.client, 'operator-of-tenants', hostRules);
      const ender = namespaceEnder(client);
      opened.defer(() => ender.stop());
      await installHosted(client);
      const hosted = opened.use(await hostedDouble(client));
      const [onManagement, onHost] = [new Rights(), new Rights()];
      const hostClient = new RestClient(onHost.watched(fleet.transportOf(undefined, { name: operatorUser })));
      const host: TenantHost = {
        client: hostClient,
        internalUrl: 'https://hangar.internal:6443',
        servingCa: () => authority,
        async enter(path) {
          const wanted = { user: 'operator', groups: ['system:masters'], expirationSeconds: 3600 };
          await issuedPair(hostClient, path, wanted);
          return new RestClient(fleet.transportOf(path));
        },
      };
      const run = (): (() => Promise<void>) => {
        const ending = new AbortController();
        const manager = controlPlaneOperator({
          management: new RestClient(onManagement.watched(management.transport)),
          host,
          log: silent,
          promotion: { intervalMs: 100 },
          dedicated: { connect: (config) => Promise.resolve(new RestClient(hosted.transport(config))) },
          leaderElection: { namespace: 'default', name: 'operator' },
        });
        const running = manager.run(ending.signal);
        return async () => {
          ending.abort();
          await running;
        };
      };
      let stop = run();
      opened.defer(() => stop());
      await wholeLife(client, fleet.client, () => onHost.used.has('get tenants/usage.tenancy.hangar.dev'));
      await dedicatedLife(client);
      await stop();
      await leftBehind(client);
      stop = run();
      await untilGone(client, ControlPlaneRegistration, 'orphan');
      await untilReady(client, 'late');
      await client.delete(ControlPlane, { name: 'late' });
      await untilGone(client, ControlPlane, 'late');
      await stop();
      stop = () => Promise.resolve();
      assert.deepEqual(onManagement.refused, [], 'the management plane refused');
      assert.deepEqual(onHost.refused, [], 'the host refused');
      // The server checks `create` for an apply that creates an object, although the request is a patch.
      const isApplied = (right: string): boolean =>
        right.startsWith('create ') && onManagement.used.has(right.replace('create', 'patch'));
      const unused = onManagement.unused(operatorRules.filter((rule) => !ownership([rule])));
      assert.deepEqual(
        unused.filter((right) => !isApplied(right)),
        [],
        'rights on the management plane',
      );
      assert.deepEqual(onManagement.unused(electionRules), [], 'rights of the election');
      assert.deepEqual(onHost.unused(hostRules), [], 'rights on the host');
    });
  });
}

const authority = testAuthority().certificate;
const silent = new Logger({ level: 'error', format: 'text', clock: systemClock, write: () => {} });

/** Every operation of the operator, at least once. */
async function wholeLife(client: Client, hostClient: Client, isMeasured: () => boolean): Promise<void> {
  await client.create(Namespace, { metadata: { name: 'kplane-system' } });
  const addon = { namespace: 'kplane-system', name: 'mesh', labels: { [labels.addon]: 'mesh' } };
  await client.create(ConfigMap, { metadata: addon, data: {} });
  await client.create(ControlPlaneClass, {
    metadata: { name: 'c' },
    spec: {
      addons: ['starter', 'mesh'],
      deletionPolicy: 'Destroy',
      promotion: { toDedicated: { objects: 1_000_000 } },
      registration: { enabled: true, services: ['Controllers'] },
    },
  });
  await client.create(ControlPlane, { metadata: { name: 'a' }, spec: { classRef: { name: 'c' } } });
  await untilReady(client, 'a');
  while (!isMeasured()) await delay(20);
  await until(client, ControlPlaneRegistration, 'a', (one) => one?.status?.ready === true);
  await otherEndpoint(client);
  await leftToOthers(client, hostClient);
  await repaired(client);
  await suspendedTwice(client, hostClient);
  await client.patch(ControlPlaneClass, { name: 'c' }, { type: 'merge', body: { spec: { registration: null } } });
  await untilGone(client, ControlPlaneRegistration, 'a');
  await client.patch(ControlPlane, { name: 'a' }, { type: 'merge', body: { spec: { endpointRef: { name: 'near' } } } });
  await untilGone(client, ControlPlaneEndpoint, 'a');
  await client.delete(ControlPlane, { name: 'a' });
  await untilGone(client, ControlPlane, 'a');
  await routed(client);
}

/** Its data is retained once, and adopted. */
async function dedicatedLife(client: Client): Promise<void> {
  for (const deletionPolicy of ['Retain', 'Destroy'] as const) {
    const spec: ControlPlane['spec'] = { mode: 'Dedicated', deletionPolicy };
    await client.create(ControlPlane, { metadata: { name: 'big' }, spec });
    await untilReady(client, 'big');
    await client.delete(ControlPlane, { name: 'big' });
    await untilGone(client, ControlPlane, 'big');
  }
}

/** The second time the operator updates the Event of the first. */
async function suspendedTwice(client: Client, hostClient: Client): Promise<void> {
  const suspend = (suspension: 'Offline' | null) =>
    hostClient.patch(Tenant, { name: 'a' }, { type: 'merge', body: { spec: { suspension } } });
  for (let times = 0; times < 2; times++) {
    await suspend('Offline');
    await until(client, ControlPlane, 'a', (one) => one?.status?.phase === 'Suspended');
    await suspend(null);
    await until(client, ControlPlane, 'a', (one) => one?.status?.phase === 'Ready');
  }
}

/** Through a Gateway, whose API is installed while the operator runs. */
async function routed(client: Client): Promise<void> {
  await makeClass(client);
  const spec: ControlPlane['spec'] = { classRef: { name: 'edge' }, deletionPolicy: 'Destroy' };
  await client.create(ControlPlane, { metadata: { name: 'routed' }, spec });
  await untilReason(client, 'routed', 'GatewayAPIMissing', 'GatewayProgrammed');
  await installGatewayApi(client);
  await untilReason(client, 'routed', 'RouteNotAccepted', 'GatewayProgrammed');
  const { namespace } = edge.apiServerRef;
  const name = 'controlplane-routed';
  await client.patch(TlsRoute, { namespace, name }, { type: 'merge', body: { spec: { hostnames: ['x.example'] } } });
  await until(client, TlsRoute, name, (one) => one?.spec?.hostnames?.[0] === 'routed.planes.example', namespace);
  await client.delete(ControlPlane, { name: 'routed' });
  await untilGone(client, ControlPlane, 'routed');
}

/** A registration with its own endpoint, and one with a Secret of a user. */
async function otherEndpoint(client: Client): Promise<void> {
  await client.create(ControlPlaneEndpoint, { metadata: { name: 'near' }, spec: { endpoint: 'https://near.example' } });
  const spec = { controlPlaneRef: { name: 'a' }, endpointRef: { name: 'near' }, services: ['Scheduler'] };
  await client.create(ControlPlaneRegistration, { metadata: { name: 'near' }, spec });
  await until(client, ControlPlaneRegistration, 'near', (one) => one?.status?.ready === true);
  const { data = {} } = await client.get(Secret, { namespace: 'kplane-cp-a', name: 'controlplane-a-kubeconfig' });
  await client.create(Secret, { metadata: { namespace: 'default', name: 'mine' }, data });
  const mine = { controlPlaneRef: { name: 'a' }, kubeconfigSecretRef: { namespace: 'default', name: 'mine' } };
  await client.create(ControlPlaneRegistration, { metadata: { name: 'mine' }, spec: mine });
  await until(client, ControlPlaneRegistration, 'mine', (one) => one?.status?.ready === true);
  for (const name of ['near', 'mine']) await client.delete(ControlPlaneRegistration, { name });
  await until(client, Secret, 'registration-near-kubeconfig', (one) => one === undefined);
}

async function leftToOthers(client: Client, hostClient: Client): Promise<void> {
  const { status } = await client.get(ControlPlaneRegistration, { name: 'a' });
  const condition = { ...status!.conditions![0]!, type: 'ControllersReady' };
  const body = { status: { conditions: [...status!.conditions!, condition] } };
  await client.status.patch(ControlPlaneRegistration, { name: 'a' }, { type: 'merge', body });
  await until(
    hostClient,
    Tenant,
    'a',
    (one) => one?.metadata.annotations?.['tenancy.hangar.dev/controllers'] === 'External',
  );
}

/** Changes by a user are repaired. */
async function repaired(client: Client): Promise<void> {
  const secret = { namespace: 'kplane-cp-a', name: 'controlplane-a-kubeconfig' };
  await client.patch(Secret, secret, { type: 'merge', body: { data: { kubeconfig: 'bm9uZQ==' } } });
  await until(client, Secret, secret.name, (one) => one?.data?.['kubeconfig'] !== 'bm9uZQ==');
  const label = { metadata: { labels: { [labels.name]: null } } };
  await client.patch(Namespace, { name: 'kplane-cp-a' }, { type: 'merge', body: label });
  await until(client, Namespace, 'kplane-cp-a', (one) => one?.metadata.labels?.[labels.name] === 'a');
  const other = { metadata: { labels: { [labels.endpointProvider]: 'nobody' } } };
  await client.patch(ControlPlaneEndpoint, { name: 'a' }, { type: 'merge', body: other });
  await until(client, ControlPlaneEndpoint, 'a', (one) => one?.metadata.labels?.[labels.endpointProvider] === 'hangar');
}

/** Events while the operator is stopped: leftovers of deleted control planes. */
async function leftBehind(client: Client): Promise<void> {
  const gone = { apiVersion: ControlPlane.apiVersion, kind: 'ControlPlane', uid: 'gone', controller: true };
  const ownerReferences = [{ ...gone, name: 'orphan' }];
  const spec = { controlPlaneRef: { name: 'orphan' } };
  await client.create(ControlPlaneRegistration, { metadata: { name: 'orphan', ownerReferences }, spec });
  await client.create(Namespace, {
    metadata: { name: 'kplane-cp-late', ownerReferences: [{ ...gone, name: 'late' }] },
  });
  await client.create(ControlPlane, { metadata: { name: 'late' }, spec: { deletionPolicy: 'Destroy' } });
}
