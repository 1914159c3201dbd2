/** Scenarios and their expected results, here and with the real kube-controller-manager: owners, dependents, and deleted namespaces. */

import { find } from '@hangar/client';
import type { ApiObject, Client, DeleteOptions, Kind } from '@hangar/client';
import { ConfigMap, Event, Namespace, Pod, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { ClusterRole } from '@hangar/client/kinds/rbac-v1';
import { hasCode } from '@hangar/core';
import { ownedBy as reference } from './garbage.ts';
import { eventually } from './run-controllers.ts';
import { Widget } from './widgets.ts';

const hold = 'example.com/hold';

/** The context of a scenario, in a dedicated namespace. */
export class Place {
  readonly client: Client;
  readonly namespace: string;

  constructor(client: Client, namespace: string) {
    this.client = client;
    this.namespace = namespace;
  }

  make(name: string, owners: readonly object[] = [], more: object = {}): Promise<ApiObject> {
    const metadata = { namespace: this.namespace, name, ownerReferences: owners as never, ...more };
    return this.client.create(ConfigMap, { metadata });
  }

  async own(name: string, owners: readonly object[]): Promise<void> {
    await this.client.patch(ConfigMap, this.#key(name), {
      type: 'merge',
      body: { metadata: { ownerReferences: owners } },
    });
  }

  remove(name: string, propagationPolicy: DeleteOptions['propagationPolicy'] = 'Background'): Promise<boolean> {
    return this.client.delete(ConfigMap, this.#key(name), { propagationPolicy });
  }

  /** By name: gone, or its owners and finalizers. */
  async states(...names: string[]): Promise<Record<string, string>> {
    const all = await Promise.all(names.map((name) => this.state(ConfigMap, name)));
    return Object.fromEntries(names.map((name, at) => [name, all[at]!]));
  }

  async state(kind: Kind<ApiObject>, name: string): Promise<string> {
    const key = kind.isNamespaced ? this.#key(name) : { name };
    const object = await find(this.client, kind, key);
    if (!object) return 'gone';
    const { ownerReferences = [], deletionTimestamp, finalizers = [] } = object.metadata;
    const owners = ownerReferences.map((one) => `${one.name}${one.blockOwnerDeletion ? '!' : ''}`);
    return [deletionTimestamp ? 'deleting' : 'there', ...owners, ...finalizers].join(' ');
  }

  #key(name: string): { namespace: string; name: string } {
    return { namespace: this.namespace, name };
  }
}

export const ownedBy = (object: ApiObject, blocks = false): ReturnType<typeof reference> =>
  reference(object, blocks ? { blocks } : {});

export interface Scenario {
  act(place: Place): Promise<unknown>;
  outcome(place: Place): Promise<unknown>;
  readonly expected: unknown;
}

export const scenarios: Readonly<Record<string, Scenario>> = {
  'in the background, all below goes': {
    async act(place) {
      const owner = await place.make('owner');
      const child = await place.make('child', [ownedBy(owner, true)]);
      await place.make('grandchild', [ownedBy(child)]);
      await place.make('stranger');
      await place.remove('owner');
    },
    outcome: (place) => place.states('owner', 'child', 'grandchild', 'stranger'),
    expected: { owner: 'gone', child: 'gone', grandchild: 'gone', stranger: 'there' },
  },
  'with another owner left, it stays and forgets the one that went': {
    async act(place) {
      const [one, two] = [await place.make('one'), await place.make('two')];
      await place.make('child', [ownedBy(one), ownedBy(two, true)]);
      await place.remove('one');
    },
    outcome: (place) => place.states('one', 'child'),
    expected: { one: 'gone', child: 'there two!' },
  },
  'orphans stay and forget their owner': {
    async act(place) {
      const [owner, other] = [await place.make('owner'), await place.make('other')];
      await place.make('child', [ownedBy(owner, true)]);
      await place.make('shared', [ownedBy(owner), ownedBy(other)]);
      await place.remove('owner', 'Orphan');
    },
    outcome: (place) => place.states('owner', 'child', 'shared'),
    expected: { owner: 'gone', child: 'there', shared: 'there other' },
  },
  'in the foreground, an owner waits for those that block it': {
    async act(place) {
      const owner = await place.make('owner');
      await place.make('blocking', [ownedBy(owner, true)], { finalizers: [hold] });
      await place.make('plain', [ownedBy(owner, true)]);
      await place.remove('owner', 'Foreground');
    },
    outcome: (place) => place.states('owner', 'blocking', 'plain'),
    expected: { owner: 'deleting foregroundDeletion', blocking: `deleting owner! ${hold}`, plain: 'gone' },
  },
  'in the foreground, an owner does not wait for others': {
    async act(place) {
      const owner = await place.make('owner');
      await place.make('child', [ownedBy(owner)], { finalizers: [hold] });
      await place.remove('owner', 'Foreground');
    },
    outcome: (place) => place.states('owner', 'child'),
    expected: { owner: 'gone', child: `deleting owner ${hold}` },
  },
  'in the foreground, a chain waits for its end': {
    async act(place) {
      const top = await place.make('top');
      const middle = await place.make('middle', [ownedBy(top, true)]);
      await place.make('leaf', [ownedBy(middle, true)], { finalizers: [hold] });
      await place.remove('top', 'Foreground');
    },
    outcome: (place) => place.states('top', 'middle', 'leaf'),
    expected: {
      top: 'deleting foregroundDeletion',
      middle: 'deleting top! foregroundDeletion',
      leaf: `deleting middle! ${hold}`,
    },
  },
  'in the foreground, a circle goes': {
    async act(place) {
      const names = ['a', 'b', 'c'];
      const all: ApiObject[] = [];
      for (const name of names) all.push(await place.make(name));
      for (const [at, name] of names.entries()) await place.own(name, [ownedBy(all[(at + 1) % 3]!, true)]);
      await place.remove('a', 'Foreground');
    },
    outcome: (place) => place.states('a', 'b', 'c'),
    expected: { a: 'gone', b: 'gone', c: 'gone' },
  },
  'in the foreground, one with another owner stays and lets go': {
    async act(place) {
      const [one, two] = [await place.make('one'), await place.make('two')];
      await place.make('child', [ownedBy(one, true), ownedBy(two, true)]);
      await place.remove('one', 'Foreground');
    },
    outcome: (place) => place.states('one', 'child'),
    expected: { one: 'gone', child: 'there two!' },
  },
  'a uid that nobody has, and a name that is not the uid’s': {
    async act(place) {
      const owner = await place.make('owner');
      await place.make('nobodys', [{ ...ownedBy(owner), uid: '11111111-2222-3333-4444-555555555555' }]);
      await place.make('misnamed', [{ ...ownedBy(owner), name: 'other' }]);
      await place.make('right', [ownedBy(owner)]);
    },
    outcome: (place) => place.states('nobodys', 'misnamed', 'right'),
    expected: { nobodys: 'gone', misnamed: 'gone', right: 'there owner' },
  },
  'one that is made after its owner went': {
    async act(place) {
      const owner = await place.make('owner');
      await place.remove('owner');
      await place.make('late', [ownedBy(owner)]);
    },
    outcome: (place) => place.states('late'),
    expected: { late: 'gone' },
  },
  'an owner in another namespace': {
    async act(place) {
      const { client } = place;
      const name = `owner-of-${place.namespace}`;
      const owner = await client.create(ConfigMap, { metadata: { namespace: 'default', name } });
      // Makes the owner known to the garbage collector before the child references it.
      await client.create(ConfigMap, {
        metadata: { namespace: 'default', name: `right-of-${place.namespace}`, ownerReferences: [ownedBy(owner)] },
      });
      await place.make('child', [ownedBy(owner)]);
    },
    outcome: async (place) => ({ ...(await place.states('child')), events: await eventsOf(place, place.namespace) }),
    expected: {
      child: 'gone',
      events: [
        'Warning ConfigMap child: ownerRef [v1/ConfigMap, namespace: NS, name: owner-of-NS, uid: U] does not exist in namespace "NS"',
      ],
    },
  },
  'what is in no namespace, of an owner in one, stays': {
    async act(place) {
      const owner = await place.make('owner');
      const ownerReferences = [ownedBy(owner)];
      await place.client.create(ClusterRole, { metadata: { name: `child-of-${place.namespace}`, ownerReferences } });
      // The event is written only while the owner exists.
      await eventually(async () => (await eventsOf(place, 'default')).length > 0, { withinMs: 30_000 });
      await place.make('sibling', [ownedBy(owner)]);
      await place.remove('owner');
    },
    outcome: async (place) => ({
      ...(await place.states('sibling')),
      role: await place.state(ClusterRole, `child-of-${place.namespace}`),
      events: await eventsOf(place, 'default'),
    }),
    expected: {
      sibling: 'gone',
      role: 'there owner',
      events: [
        'Warning ClusterRole child-of-NS: ownerRef [v1/ConfigMap, namespace: , name: owner, uid: U] does not exist in namespace ""',
      ],
    },
  },
  'an owner of a kind that nobody serves': {
    async act(place) {
      await place.make('child', [{ apiVersion: 'nobody.example.com/v1', kind: 'Thing', name: 't', uid: 'u' }]);
      const owner = await place.make('owner');
      await place.make('sibling', [ownedBy(owner)]);
      await place.remove('owner');
    },
    outcome: (place) => place.states('child', 'sibling'),
    expected: { child: 'there t', sibling: 'gone' },
  },
  'custom resources own and are owned': {
    async act(place) {
      const { client, namespace } = place;
      const top = await client.create(Widget, { metadata: { namespace, name: 'top' } });
      const middle = await place.make('middle', [ownedBy(top)]);
      await client.create(Widget, { metadata: { namespace, name: 'leaf', ownerReferences: [ownedBy(middle)] } });
      await client.delete(Widget, { namespace, name: 'top' });
    },
    outcome: async (place) => ({ ...(await place.states('middle')), leaf: await place.state(Widget, 'leaf') }),
    expected: { middle: 'gone', leaf: 'gone' },
  },
  'a dependent that orphans its own when it is collected': {
    async act(place) {
      const owner = await place.make('owner');
      const child = await place.make('child', [ownedBy(owner)], { finalizers: ['orphan'] });
      await place.make('grandchild', [ownedBy(child)]);
      await place.remove('owner');
    },
    outcome: (place) => place.states('child', 'grandchild'),
    expected: { child: 'gone', grandchild: 'there' },
  },
  'a namespace with finalizers in it': {
    async act(place) {
      await place.make('held', [], { finalizers: [hold] });
      await place.make('free');
      await place.client.delete(Namespace, { name: place.namespace });
    },
    outcome: async (place) => ({ ...(await place.states('held', 'free')), ...(await conditionsOf(place)) }),
    expected: {
      held: `deleting ${hold}`,
      free: 'gone',
      NamespaceDeletionDiscoveryFailure: 'False ResourcesDiscovered: All resources successfully discovered',
      NamespaceDeletionGroupVersionParsingFailure:
        'False ParsedGroupVersions: All legacy kube types successfully parsed',
      NamespaceDeletionContentFailure:
        'False ContentDeleted: All content successfully deleted, may be waiting on finalization',
      NamespaceContentRemaining:
        'True SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances',
      NamespaceFinalizersRemaining: `True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: ${hold} in 1 resource instances`,
    },
  },
  'a namespace with a pod in its grace period': {
    async act(place) {
      const { client, namespace } = place;
      await place.make('waits');
      await eventually(() =>
        client.create(ServiceAccount, { metadata: { namespace, name: 'default' } }).then(() => true, isThere),
      );
      await client.create(Pod, {
        metadata: { namespace, name: 'pod' },
        spec: { nodeName: 'nowhere', containers: [{ name: 'c', image: 'i' }] },
      });
      await client.delete(Namespace, { name: namespace });
    },
    // Excludes its conditions: the real one reports that nothing remains, because it stops before it has counted.
    outcome: async (place) => ({ ...(await place.states('waits')), pod: await place.state(Pod, 'pod') }),
    expected: { waits: 'there', pod: 'deleting' },
  },
  'an empty namespace': {
    act: (place) => place.client.delete(Namespace, { name: place.namespace }),
    outcome: (place) => place.state(Namespace, place.namespace),
    expected: 'gone',
  },
};

const isThere = (error: unknown): boolean => hasCode(error, 'AlreadyExists');

/** Returns the events about objects of a scenario, without variable parts. */
async function eventsOf({ client, namespace }: Place, where: string): Promise<string[]> {
  const { items } = await client.list(Event, { namespace: where });
  const about = items.filter(
    ({ reason, involvedObject }) =>
      reason === 'OwnerRefInvalidNamespace' &&
      (involvedObject.namespace === namespace || involvedObject.name === `child-of-${namespace}`),
  );
  const texts = about.map(({ type, message = '', involvedObject }) => {
    const text = `${involvedObject.name}: ${message.replace(/uid: [-0-9a-f]+/, 'uid: U')}`;
    return `${type} ${involvedObject.kind} ${text.replaceAll(namespace, 'NS')}`;
  });
  return [...new Set(texts)];
}

async function conditionsOf({ client, namespace }: Place): Promise<Record<string, string>> {
  const { status } = await client.get(Namespace, { name: namespace });
  return Object.fromEntries(
    (status?.conditions ?? []).map(({ type, status: is, reason, message }) => [type, `${is} ${reason}: ${message}`]),
  );
}
