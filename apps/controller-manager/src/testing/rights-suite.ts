/**
 * Runs the controller manager's work in a management plane with exactly its declared permissions: no request is refused, and no permission
 * is unused. Runs against both kinds of management plane, which also shows that conditions are the same on both.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { find, RestClient } from '@hangar/client';
import type { Client, HttpTransport } from '@hangar/client';
import { Lease } from '@hangar/client/kinds/coordination-v1';
import { SubjectAccessReview } from '@hangar/client/kinds/authorization-v1';
import type { Condition } from '@hangar/client/kinds/meta-v1';
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '@hangar/client/kinds/rbac-v1';
import type { PolicyRule } from '@hangar/client/kinds/rbac-v1';
import { Logger, sleep, systemClock, systemRandom } from '@hangar/core';
import {
  ControlPlaneEndpoint,
  ControlPlaneRegistration,
  servicesAnnotation,
  ShardCoordinator,
} from '@hangar/runtime/clusters';
import { Rights } from '@hangar/testkit';
import { ConditionWriter } from '../conditions/index.ts';
import type { ServiceState, SourceObject } from '../contract.ts';
import { endpointFleet, kubeconfigsOf, registrationFleet } from '../fleet/index.ts';
import { Heard } from '../fleet/testing/heard.ts';
import { installKinds, makeNamespace, putSecret, register, resolve } from '../fleet/testing/management.ts';
import { controllerManagerRules } from '../rbac.ts';
import type { ControllerManagerRules, ControllerManagerRulesOptions } from '../rbac.ts';

export const controllerManagerUser = 'hangar-controller-manager';

export interface ManagementPlane extends AsyncDisposable {
  /** Administrator. */
  readonly client: Client;
  /** As `controllerManagerUser`. */
  readonly transport: HttpTransport;
}

const log = new Logger({ level: 'error', format: 'text', clock: systemClock, write: () => {} });
const world = { clock: systemClock, random: systemRandom, log };
const scope = 'fleet';
const secret = { namespace: scope, name: 'red-kubeconfig' };

const modes: readonly ControllerManagerRulesOptions[] = [
  { source: 'registration', engine: 'kube', namespaceScope: scope, secretNames: [secret.name], leaseNamespace: 'work' },
  { source: 'controlplaneendpoint', engine: 'essential', secretNames: [secret.name] },
  { leaseNamespace: scope, namespaceScope: scope },
];

export function rightsSuite(title: string, start: () => Promise<ManagementPlane>): void {
  describe(`the rights of the controller manager on ${title}`, () => {
    for (const options of modes) {
      test(`are enough, and none is too many: ${JSON.stringify(options)}`, async () => {
        await using management = await start();
        const { client } = management;
        await installKinds(client);
        for (const name of [scope, 'work']) await makeNamespace(client, name);
        await putSecret(client, secret, { kubeconfig: 'one' });
        const rules = controllerManagerRules(options);
        await grant(client, rules);
        const rights = new Rights();
        const watched = new RestClient(rights.watched(management.transport));
        const source = await makeSource(client, options);
        await serveOne({ client, watched, source }, options);
        if (options.leaseNamespace) await shareWithOthers({ client, watched }, options.leaseNamespace);
        assert.deepEqual(rights.refused, [], 'refused');
        const all = [...rules.everywhere, ...Object.values(rules.byNamespace).flat()];
        assert.deepEqual(rights.unused(all), [], 'never needed');
      });
    }

    test('are for the named secrets only', async () => {
      await using management = await start();
      const { client, transport } = management;
      await makeNamespace(client, scope);
      for (const name of ['mine', 'other']) await putSecret(client, { namespace: scope, name }, { kubeconfig: name });
      await grant(client, controllerManagerRules({ namespaceScope: scope, secretNames: ['mine'] }));
      const kubeconfigs = kubeconfigsOf({ management: new RestClient(transport), ...world });
      const signal = AbortSignal.timeout(10_000);
      assert.equal(await kubeconfigs.read({ namespace: scope, name: 'mine' }, signal), 'mine');
      await assert.rejects(kubeconfigs.read({ namespace: scope, name: 'other' }, signal), { code: 'Forbidden' });
      assert.equal(await firstTold(kubeconfigs, 'mine'), 'mine');
      assert.equal(await firstTold(kubeconfigs, 'other'), undefined);
    });
  });
}

async function firstTold(kubeconfigs: ReturnType<typeof kubeconfigsOf>, name: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const end = kubeconfigs.follow({ namespace: scope, name }, resolve);
  return promise.finally(end);
}

interface Parts {
  readonly client: Client;
  readonly watched: Client;
  readonly source: SourceObject;
}

/** One cluster through its life: found, reported, its kubeconfig read and followed, one service removed, then the other one. */
async function serveOne({ client, watched, source }: Parts, options: ControllerManagerRulesOptions): Promise<void> {
  const writer = new ConditionWriter({ management: watched, ...world });
  const kubeconfigs = kubeconfigsOf({ management: watched, ...world });
  const fleetOptions = { management: watched, ...world, namespaceScope: options.namespaceScope };
  const fleet =
    options.source === 'controlplaneendpoint'
      ? endpointFleet({ ...fleetOptions, secretTemplate: `${scope}/{name}-kubeconfig` })
      : registrationFleet({ ...fleetOptions, onSeen: (object) => writer.observe(object) });
  const ending = new AbortController();
  const writing = writer.run(ending.signal);
  {
    await using heard = new Heard(fleet);
    await heard.cluster('red', (one) => one.secret?.name === secret.name && one.services.size === 2);
    for (const service of ['controllers', 'scheduler'] as const) {
      writer.tell(source, service, state('Starting'));
      await writer.written(source, service);
      writer.tell(source, service, state('Ready'));
    }
    await untilSaid(client, source, ['ControllersReady=True', 'Ready=True', 'SchedulerReady=True']);
    if (options.engine !== 'kube') assert.equal(await kubeconfigs.read(secret, AbortSignal.timeout(10_000)), 'one');
    if (options.engine !== 'essential') await followed(client, kubeconfigs);
    writer.remove(source, 'scheduler');
    await untilSaid(client, source, ['ControllersReady=True', 'Ready=True']);
    writer.remove(source, 'controllers');
    await untilSaid(client, source, ['Ready=True']);
  }
  ending.abort();
  await writing;
}

async function followed(client: Client, kubeconfigs: ReturnType<typeof kubeconfigsOf>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = kubeconfigs.follow(secret, (kubeconfig) => {
    if (kubeconfig === 'one') void putSecret(client, secret, { kubeconfig: 'two' });
    if (kubeconfig === 'two') resolve();
  });
  await promise.finally(end);
}

/** Replicas join and leave, another client changes a lease, and the lease of a former replica is deleted. */
async function shareWithOthers({ client, watched }: Omit<Parts, 'source'>, namespace: string): Promise<void> {
  const timings = { leaseMs: 2_000, renewEveryMs: 400, requestTimeoutMs: 300, drainTimeoutMs: 300 };
  const run = async (peer: string): Promise<() => Promise<void>> => {
    const ending = new AbortController();
    const coordinator = new ShardCoordinator({ client: watched, namespace, group: 'test', peer, timings, ...world });
    const { promise: owned, resolve } = Promise.withResolvers<void>();
    for (let at = 0; at < 8; at++) {
      coordinator.follow({ name: `c${at}` }, { acquired: () => resolve(), released: () => Promise.resolve() });
    }
    const running = coordinator.run(ending.signal);
    await owned;
    return async () => {
      ending.abort();
      await running;
    };
  };
  const stopFirst = await run('first');
  await (
    await run('second')
  )();
  const label = { metadata: { labels: { touched: 'yes' } } };
  const first = { namespace, name: 'hangar-shard.test.peer.first' };
  await client.patch(Lease, first, { type: 'merge', body: label });
  for (let at = 0; await find(client, Lease, { namespace, name: 'hangar-shard.test.peer.second' }); at++) {
    assert.ok(at < 10, 'the lease of one that went is still there');
    await (
      await run(`other-${at}`)
    )();
  }
  await stopFirst();
}

const state = (phase: ServiceState['phase']): ServiceState => ({ phase, reason: phase, message: '', restarts: 0 });

/** Creates and resolves the source as the operator does, with a foreign condition. */
async function makeSource(client: Client, { source }: ControllerManagerRulesOptions): Promise<SourceObject> {
  const name = 'red';
  const own: Condition = {
    type: 'Ready',
    status: 'True',
    reason: 'X',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const patch = { type: 'merge', body: { status: { conditions: [own] } } } as const;
  if (source === 'controlplaneendpoint') {
    const annotations = { [servicesAnnotation]: 'controllers,scheduler' };
    const spec = { endpoint: 'https://red' };
    const { metadata } = await client.create(ControlPlaneEndpoint, { metadata: { name, annotations }, spec });
    await client.status.patch(ControlPlaneEndpoint, { name }, patch);
    return { kind: 'ControlPlaneEndpoint', name, uid: metadata.uid! };
  }
  const { metadata } = await register(client, name, { services: ['controllers', 'scheduler'] });
  await resolve(client, name, secret);
  await client.status.patch(ControlPlaneRegistration, { name }, patch);
  return { kind: 'ControlPlaneRegistration', name, uid: metadata.uid! };
}

async function untilSaid(client: Client, { kind, name }: SourceObject, expected: readonly string[]): Promise<void> {
  const endMs = performance.now() + 15_000;
  for (;;) {
    const object =
      kind === 'ControlPlaneEndpoint'
        ? await client.get(ControlPlaneEndpoint, { name })
        : await client.get(ControlPlaneRegistration, { name });
    const said = (object.status?.conditions ?? []).map(({ type, status }) => `${type}=${status}`).sort();
    if (said.join() === expected.join()) return;
    assert.ok(performance.now() < endMs, `${said.join()} is not ${expected.join()}`);
    await sleep(systemClock, 20);
  }
}

async function grant(client: Client, { everywhere, byNamespace }: ControllerManagerRules): Promise<void> {
  const name = controllerManagerUser;
  const apiGroup = 'rbac.authorization.k8s.io';
  const subjects = [{ kind: 'User', apiGroup, name }];
  const rulesOf = (rules: readonly PolicyRule[]): PolicyRule[] => [...rules];
  await client.create(ClusterRole, { metadata: { name }, rules: rulesOf(everywhere) });
  const roleRef = { apiGroup, kind: 'ClusterRole', name };
  await client.create(ClusterRoleBinding, { metadata: { name }, roleRef, subjects });
  for (const [namespace, rules] of Object.entries(byNamespace)) {
    const metadata = { namespace, name };
    await client.create(Role, { metadata, rules: rulesOf(rules) });
    await client.create(RoleBinding, { metadata, roleRef: { apiGroup, kind: 'Role', name }, subjects });
  }
  await untilAllowed(client, everywhere);
  for (const [namespace, rules] of Object.entries(byNamespace)) await untilAllowed(client, rules, namespace);
}

/** Waits until the authorizer has seen the role and its binding: it follows both by watches. */
async function untilAllowed(client: Client, [rule]: readonly PolicyRule[], namespace?: string): Promise<void> {
  if (!rule) return;
  const resourceAttributes = {
    verb: rule.verbs[0]!,
    group: rule.apiGroups![0]!,
    resource: rule.resources![0]!.split('/')[0]!,
    ...(rule.resources![0]!.includes('/') ? { subresource: rule.resources![0]!.split('/')[1]! } : {}),
    ...(rule.resourceNames ? { name: rule.resourceNames[0]! } : {}),
    ...(namespace === undefined ? {} : { namespace }),
  };
  const spec = { user: controllerManagerUser, resourceAttributes };
  while (!(await client.create(SubjectAccessReview, { metadata: {}, spec })).status?.allowed)
    await sleep(systemClock, 10);
}
