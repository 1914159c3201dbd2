/**
 * Random roles, bindings, objects and queries: the results of every user are exactly the objects that match and that the API server itself
 * lets the user get or list.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find } from '@hangar/client';
import type { ApiObject, Client, Kind } from '@hangar/client';
import { ConfigMap, Namespace, Service } from '@hangar/client/kinds/core-v1';
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '@hangar/client/kinds/rbac-v1';
import { chance, hasCode, pick, seededRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import { inside, startFleetSearch, userOf } from '../testing/fleet-search.ts';

const seed = 20_261_118;
const namespaces = ['north', 'south', 'west'];
const words = ['apple', 'berry', 'cherry'];
const names = ['one', 'two', 'three', 'four'];
const users = ['kim', 'lee', 'max', 'noa'];
const groups = ['builders', 'readers'];
const kinds: Readonly<Record<string, Kind>> = {
  configmaps: ConfigMap as Kind<ApiObject> as Kind,
  services: Service as Kind<ApiObject> as Kind,
};
const resources = Object.keys(kinds);

const some = <T>(random: Random, all: readonly T[]): T[] => all.filter(() => chance(random, 0.5));

const ruleOf = (
  random: Random,
): { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] } => ({
  apiGroups: [pick(random, ['', '', '*', 'apps'])],
  resources: chance(random, 0.2) ? ['*'] : [pick(random, resources)],
  verbs: [pick(random, ['get', 'list', 'get', 'list', '*', 'watch', 'create'])],
  ...(chance(random, 0.5) ? { resourceNames: some(random, names) } : {}),
});

const subjectOf = (random: Random) =>
  chance(random, 0.7)
    ? { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: pick(random, users) }
    : { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: pick(random, groups) };

async function fill(client: Client, random: Random): Promise<void> {
  for (const name of namespaces) await client.create(Namespace, { metadata: { name } });
  for (const namespace of namespaces) {
    for (const name of names) {
      const annotations = { text: some(random, words).join(' ') };
      const metadata = { namespace, name, annotations };
      if (chance(random, 0.7)) await client.create(ConfigMap, { metadata });
      if (chance(random, 0.4)) await client.create(Service, { metadata, spec: { ports: [{ port: 80 }] } });
    }
    for (let at = 0; at < 3; at++) {
      const metadata = { namespace, name: `role-${at}` };
      await client.create(Role, { metadata, rules: [ruleOf(random)] });
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name };
      await client.create(RoleBinding, { metadata, roleRef, subjects: [subjectOf(random)] });
    }
  }
  const metadata = { name: 'some' };
  await client.create(ClusterRole, { metadata, rules: [ruleOf(random)] });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'some' };
  await client.create(ClusterRoleBinding, { metadata, roleRef, subjects: [subjectOf(random)] });
}

const isAllowed = (reading: Promise<unknown>): Promise<boolean> =>
  reading.then(
    () => true,
    (error: Error) => {
      if (hasCode(error, 'Forbidden')) return false;
      throw error;
    },
  );

test('results are the matching objects that the user may read, for random roles, objects and queries', async () => {
  const random = seededRandom(seed);
  const clusters = ['red', 'blue'];
  await using search = await startFleetSearch(clusters);
  const { fleet } = search;
  for (const cluster of clusters) await fill(fleet.clientOf(cluster), random);
  await search.index.current.synced;
  // The feed of each kind is in order: markers come last.
  for (const [plural, kind] of Object.entries(kinds)) {
    const metadata = { namespace: 'default', name: `marker-${plural}` };
    await fleet
      .clientOf('blue')
      .create(kind, { metadata, ...(plural === 'services' ? { spec: { ports: [{ port: 80 }] } } : {}) });
    await search.until(`name:${metadata.name}`, (found) => found.length === 1);
  }
  for (const last of ['kind:Role name:role-2 namespace:west', 'kind:ClusterRole name:some']) {
    await search.until(`${last} cluster:blue`, (found) => found.length === 1);
  }
  const queries = [
    ...words,
    'kind:ConfigMap',
    'kind:Service apple',
    'namespace:north -berry',
    'name:two',
    'cherry cluster:red',
  ];
  let total = 0;
  for (const cluster of clusters) {
    for (const name of users) {
      const ownGroups = some(random, groups);
      const client = fleet.clientOf(cluster, { name, groups: ownGroups });
      const readable = new Set<string>();
      for (const [, kind] of Object.entries(kinds)) {
        for (const namespace of namespaces) {
          const { items } = await fleet.clientOf(cluster).list(kind, { namespace });
          const mayList = await isAllowed(client.list(kind, { namespace }));
          for (const { metadata } of items) {
            const key = { namespace, name: metadata.name! };
            if (mayList || (await isAllowed(find(client, kind, key))))
              readable.add(`${kind.kind}/${namespace}/${key.name}`);
          }
        }
      }
      for (const query of queries) {
        const user = userOf(name, ...ownGroups);
        const found = async (...asked: Parameters<typeof search.search>): Promise<string[]> => {
          const { results } = await search.search(...asked);
          return results
            .filter(
              ({ kind, namespace }) =>
                (kind === 'ConfigMap' || kind === 'Service') && namespaces.includes(namespace ?? ''),
            )
            .map((one) => `${one.cluster}:${one.kind}/${one.namespace}/${one.name}`);
        };
        const spec = { query, limit: 500 };
        const all = await found(spec, undefined, inside(cluster));
        const expected = all.filter((one) => readable.has(one.split(':')[1]!)).toSorted();
        const got = (await found(spec, user, inside(cluster))).toSorted();
        assert.deepEqual(got, expected, `seed ${seed}: ${query} of ${name} in ${cluster}`);
        assert.deepEqual(await found(spec, user), [], 'platform users have no rights in tenants');
        total += got.length;
      }
    }
  }
  assert.ok(total > 50, `only ${total} results: the test has too few rights`);
});
