/**
 * Invariants under random events in random order, with restarts of the operator: a ready registration publishes one address, which its
 * kubeconfig has, too.
 *
 *   always    the address in a ready status is one that the named Secret has had by then: never a mix
 *   in rest   the status equals the pure resolution of the existing objects; the Secret has the same address now; no Secret that
 *             was created for a registration is unused
 */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@hangar/client';
import { find } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { chance, pick, seededRandom, systemClock } from '@hangar/core';
import type { Random } from '@hangar/core';
import { findCondition } from '@hangar/runtime';
import {
  ControlPlane,
  ControlPlaneEndpoint,
  ControlPlaneRegistration,
  managementNamespace,
  registrationSecretName,
} from '../api/index.ts';
import type { SecretReference } from '../api/index.ts';
import { startLoneOperator } from '../testing/lone-operator.ts';
import { until } from '../testing/until.ts';
import { registrationController } from './controller.ts';
import { FollowedSecrets } from './followed-secrets.ts';
import { addRegistrationIndexes } from './indexes.ts';
import { kubeconfigFacts, kubeconfigIn } from './kubeconfig.ts';
import { registrationOf } from './own-secret.ts';
import { controlPlaneOf, resolve, secretOf } from './resolution.ts';
import type { Resolution } from './resolution.ts';
import { addressOfPath, publish, putOwnSecret, putSecret, readyControlPlane } from './testing/control-plane.ts';

const planes = ['a', 'b'];
const registrations = ['r', 's', 't'];
const endpoints = ['near', 'far'];
const hosts = ['one.example', 'two.example'];
const users: readonly SecretReference[] = [{ namespace: 'users', name: 'mine' }];

const ignoring = (done: Promise<unknown>): Promise<void> =>
  done.then(
    () => {},
    () => {},
  );

type Action = (client: Client, random: Random) => Promise<void>;

/** Mostly healthy states: the interesting cases are the transitions between them. */
const well: readonly Action[] = [
  async (client, random) => void (await readyControlPlane(client, pick(random, planes), pick(random, hosts))),
  (client, random) => {
    const [name, endpoint] = [pick(random, endpoints), `https://${pick(random, hosts)}`];
    return ignoring(
      client.apply(
        ControlPlaneEndpoint,
        { metadata: { name }, spec: { endpoint } },
        { fieldManager: 'test', force: true },
      ),
    );
  },
  async (client, random) => {
    const spec = {
      controlPlaneRef: { name: pick(random, planes) },
      endpointRef: pick(random, [null, ...endpoints.map((name) => ({ name }))]),
      kubeconfigSecretRef: pick(random, [null, null, null, ...users]),
    };
    const name = pick(random, registrations);
    await ignoring(
      client.create(ControlPlaneRegistration, { metadata: { name }, spec: { controlPlaneRef: spec.controlPlaneRef } }),
    );
    await client.patch(ControlPlaneRegistration, { name }, { type: 'merge', body: { spec } });
  },
  (client, random) =>
    ignoring(putSecret(client, pick(random, users), addressOfPath(pick(random, hosts), pick(random, planes)))),
];

/** Each is an action of a user at any time. Those that are invalid now are refused. */
const anything: readonly Action[] = [
  (client, random) => ignoring(client.create(ControlPlane, { metadata: { name: pick(random, planes) }, spec: {} })),
  (client, random) => ignoring(client.delete(ControlPlane, { name: pick(random, planes) })),
  (client, random) => {
    const name = pick(random, planes);
    const endpoint = pick(random, [null, ...hosts.map((host) => addressOfPath(host, name))]);
    const [isReady, hasSecret] = [random.fraction() < 0.8, random.fraction() < 0.8];
    return ignoring(publish(client, name, { endpoint, isReady, hasSecret }));
  },
  (client, random) => {
    const name = pick(random, planes);
    return ignoring(putOwnSecret(client, name, addressOfPath(pick(random, hosts), name)));
  },
  (client, random) => {
    const name = pick(random, planes);
    return ignoring(client.delete(Secret, { namespace: `kplane-cp-${name}`, name: `controlplane-${name}-kubeconfig` }));
  },
  (client, random) => ignoring(client.delete(Secret, pick(random, users))),
  (client, random) => ignoring(client.delete(ControlPlaneEndpoint, { name: pick(random, endpoints) })),
  (client, random) => ignoring(client.delete(ControlPlaneRegistration, { name: pick(random, registrations) })),
];

/** How often each outcome occurred at rest: an outcome that never occurs is not tested. */
const outcomes = new Map<string, number>();
after(() => {
  for (const one of ['Resolved', 'Resolved by rewriting', 'EndpointPending', 'KubeconfigPending']) {
    assert.ok((outcomes.get(one) ?? 0) >= 3, `${one} was hardly reached: ${JSON.stringify([...outcomes])}`);
  }
});

async function expected(client: Client, registration: ControlPlaneRegistration): Promise<Resolution> {
  const { endpointRef } = registration.spec;
  const controlPlane = await find(client, ControlPlane, { name: controlPlaneOf(registration) });
  const endpoint = endpointRef && (await find(client, ControlPlaneEndpoint, { name: endpointRef.name }));
  const reference = secretOf(registration, controlPlane);
  const secret = reference && (await find(client, Secret, reference));
  return resolve({ registration, controlPlane, endpoint, kubeconfig: secret && (await kubeconfigFacts(secret)) });
}

const referenceOf = (
  name: string,
  registration: ControlPlaneRegistration,
  { rewrite, secret }: Resolution & { readonly reason: 'Resolved' },
): SecretReference =>
  rewrite
    ? { name: registrationSecretName(name), namespace: managementNamespace(controlPlaneOf(registration)) }
    : { name: secret.name, namespace: secret.namespace };

async function untilSecretSays(client: Client, { name, namespace }: SecretReference, address: string): Promise<void> {
  await until(client, Secret, name, (secret) => {
    return secret?.metadata.namespace === namespace && kubeconfigIn(secret)!.includes(address);
  });
  const { server } = await kubeconfigFacts(await client.get(Secret, { name, namespace }));
  assert.equal(server, address);
}

async function insistOnRest(client: Client): Promise<void> {
  const needed = new Set<string>();
  for (const name of registrations) {
    const registration = await find(client, ControlPlaneRegistration, { name });
    if (!registration) continue;
    const wanted = await expected(client, registration);
    const address = wanted.reason === 'Resolved' ? wanted.address : undefined;
    const outcome = wanted.reason === 'Resolved' && wanted.rewrite ? 'Resolved by rewriting' : wanted.reason;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    const reference = wanted.reason === 'Resolved' ? referenceOf(name, registration, wanted) : undefined;
    // It may have held before: waits for the whole condition.
    await until(client, ControlPlaneRegistration, name, (one) => {
      const { ready, resolvedEndpoint, resolvedKubeconfigSecretRef, conditions } = one?.status ?? {};
      const isSame = resolvedEndpoint === address && isDeepStrictEqual(resolvedKubeconfigSecretRef, reference);
      return isSame && ready === Boolean(address) && findCondition(conditions, 'Ready')?.reason === wanted.reason;
    });
    if (!reference) continue;
    if (reference.name === registrationSecretName(name)) needed.add(`${reference.namespace}/${reference.name}`);
    await untilSecretSays(client, reference, address!);
  }
  const { items } = await client.list(Secret);
  for (const secret of items.filter((one) => registrationOf(one) !== undefined)) {
    const { name, namespace } = secret.metadata;
    if (!needed.has(`${namespace}/${name}`))
      await until(client, Secret, name!, (one) => one?.metadata.namespace !== namespace);
  }
}

/** Records the address of each version of each Secret, and the published statuses. */
class Witness implements AsyncDisposable {
  readonly #ending = new AbortController();
  readonly #watches: Promise<void>[] = [];
  readonly #said: { key: string; version: number; server: string }[] = [];
  readonly #published: { key: string; version: number; server: string; name: string }[] = [];

  constructor(client: Client) {
    const follow = { resourceVersion: '0', signal: this.#ending.signal };
    this.#watches.push(
      (async () => {
        for await (const event of client.watch(Secret, follow)) {
          if (event.type === 'BOOKMARK' || event.type === 'DELETED') continue;
          const { namespace, name, resourceVersion } = event.object.metadata;
          const { server = '' } = await kubeconfigFacts(event.object);
          this.#said.push({ key: `${namespace}/${name}`, version: Number(resourceVersion), server });
        }
      })().catch(() => {}),
      (async () => {
        for await (const event of client.watch(ControlPlaneRegistration, follow)) {
          if (event.type === 'BOOKMARK' || !event.object.status?.ready) continue;
          const { status, metadata } = event.object;
          const { name, namespace } = status!.resolvedKubeconfigSecretRef!;
          const version = Number(metadata.resourceVersion);
          const server = status!.resolvedEndpoint!;
          this.#published.push({ key: `${namespace}/${name}`, version, server, name: metadata.name! });
        }
      })().catch(() => {}),
    );
  }

  insist(): void {
    for (const { key, version, server, name } of this.#published) {
      const hasSaid = this.#said.some((one) => one.key === key && one.version <= version && one.server === server);
      assert.ok(hasSaid, `${name} published ${server} at ${version}: ${key} had never said so`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#watches);
  }
}

for (const seed of [1, 2, 3, 4]) {
  test(`endpoint and kubeconfig are one address in every order of changes, seed ${seed}`, async () => {
    await using operator = await startLoneOperator(({ manager, client, log }) => {
      addRegistrationIndexes(manager.cluster.cache);
      const followed = new FollowedSecrets({ client, clock: systemClock, log });
      manager.controller(registrationController({ clock: systemClock, followed }));
    });
    const { client } = operator;
    await using witness = new Witness(client);
    const random = seededRandom(seed);
    for (let round = 0; round < 16; round++) {
      const burst = async (): Promise<void> => {
        for (let at = 0; at < 8; at++) await pick(random, chance(random, 0.7) ? well : anything)(client, random);
      };
      await (chance(random, 0.2) ? operator.restart(burst) : burst());
      await insistOnRest(client);
    }
    witness.insist();
  });
}
