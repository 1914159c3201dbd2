/** Tests which parts of definitions control planes share. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CustomResourceDefinition } from '@hangar/api/crd';
import { definition, definitions, TestServer, version, widget, widgets } from '../testing/test-server.ts';
import type { Data } from '../testing/test-server.ts';
import { sharedDefinition } from './shared-definition.ts';

const name = 'widgets.example.com';

const withMetadata = (metadata: object, spec: object = {}): Data => {
  const made = definition();
  return { ...made, metadata: { ...made.metadata, ...metadata }, spec: { ...made.spec, ...spec } };
};

const two = async (): Promise<{ one: TestServer; other: TestServer } & AsyncDisposable> => {
  const [one, other] = await Promise.all([TestServer.start(), TestServer.start()]);
  return {
    one,
    other,
    async [Symbol.asyncDispose]() {
      await one[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
};

const shown = ({ plane }: TestServer) => plane.catalogue.definition(name)!.versions[0]!.resource;
const served = ({ plane }: TestServer) => plane.catalogue.definition(name)!.resources.get('v1')!;

test('the same definition is compiled once, and each control plane has its own identity of it', async () => {
  await using both = await two();
  const { one, other } = both;
  await one.create(definitions, withMetadata({ labels: { tenant: 'one' } }));
  await other.create(definitions, withMetadata({ labels: { tenant: 'other' } }));
  assert.equal(shown(one), shown(other));
  assert.equal(served(one).strategy, served(other).strategy);
  assert.equal(served(one).mergeType, served(other).mergeType);
  assert.equal(served(one).table, served(other).table);
  assert.equal(one.plane.catalogue.groups, other.plane.catalogue.groups);
  assert.notEqual(served(one), served(other));
  const [mine, theirs] = await Promise.all([one, other].map((server) => server.get(`${definitions}/${name}`)));
  assert.notEqual(mine.metadata.uid, theirs.metadata.uid);
  assert.deepEqual([mine.metadata.labels.tenant, theirs.metadata.labels.tenant], ['one', 'other']);
});

test('what is shared says nothing of a control plane that has it', async () => {
  await using server = await TestServer.start();
  const secret = 'a-text-of-one-tenant';
  const conversion = {
    strategy: 'Webhook',
    webhook: { clientConfig: { url: `https://${secret}.example.com/` }, conversionReviewVersions: ['v1'] },
  };
  await server.create(definitions, withMetadata({ labels: { secret }, annotations: { secret } }, { conversion }));
  const stored: CustomResourceDefinition = await server.get(`${definitions}/${name}`);
  const shared = sharedDefinition(stored);
  const texts = [shared.spec, shared.acceptedNames, [...shared.compiled.values()], server.plane.catalogue.groups].map(
    (part) => JSON.stringify(part),
  );
  for (const text of texts) {
    assert.ok(!text.includes(secret));
    assert.ok(!text.includes(stored.metadata.uid!));
  }
  // The conversion of another control plane has no effect.
  assert.equal(sharedDefinition({ ...stored, spec: { ...stored.spec, conversion: { strategy: 'None' } } }), shared);
});

test('nobody can change what is shared', async () => {
  await using server = await TestServer.start();
  await server.create(definitions, definition());
  const shared = sharedDefinition(await server.get(`${definitions}/${name}`));
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    assert.ok(Object.isFrozen(value));
    Object.values(value).forEach(visit);
  };
  visit(shared.spec);
  visit(shared.acceptedNames);
});

test('a difference in one field is a difference, and so are other names', async () => {
  await using both = await two();
  const { one, other } = both;
  await one.create(definitions, definition());
  const defaulted = { size: { type: 'integer', default: 7 } };
  await other.create(definitions, definition({ versions: [version('v1', defaulted)] }));
  assert.equal((await one.create(widgets, widget('a'))).spec.size, undefined);
  assert.equal((await other.create(widgets, widget('a'))).spec.size, 7);
  assert.notEqual(shown(one), shown(other));
  assert.notEqual(one.plane.catalogue.content, other.plane.catalogue.content);

  const { metadata: _, ...given } = await one.get(`${definitions}/${name}`);
  const renamed = structuredClone(given);
  renamed.status.acceptedNames.kind = 'Other';
  assert.notEqual(sharedDefinition(renamed as never), sharedDefinition(given as never));
});

test('a change in one control plane is none in the other', async () => {
  await using both = await two();
  const { one, other } = both;
  for (const server of [one, other]) await server.create(definitions, definition());
  for (const server of [one, other]) await server.create(widgets, widget('a', { size: 1 }));
  const current = await one.get(`${definitions}/${name}`);
  const properties = { size: { type: 'integer' }, colour: { type: 'string', default: 'red' } };
  current.spec.versions = [version('v1', properties)];
  await one.update(`${definitions}/${name}`, current);
  assert.equal((await one.get(`${widgets}/a`)).spec.colour, 'red');
  assert.equal((await other.get(`${widgets}/a`)).spec.colour, undefined);
  await one.remove(`${definitions}/${name}`);
  await one.until('it is gone', async () => (await one.request('GET', widgets)).status === 404);
  assert.equal((await other.get(widgets)).items.length, 1);
});

test('objects that were written under an older schema are read by the new one, where it has changed', async () => {
  await using both = await two();
  const { one, other } = both;
  await one.create(definitions, definition());
  await one.create(widgets, widget('a'));
  const properties = { size: { type: 'integer', default: 3 } };
  const current: Data = await one.get(`${definitions}/${name}`);
  current.spec.versions = [version('v1', properties)];
  await one.update(`${definitions}/${name}`, current);
  // The same content with different generations.
  await other.create(definitions, definition({ versions: [version('v1', properties)] }));
  assert.equal(shown(one), shown(other));
  assert.equal((await one.get(`${widgets}/a`)).spec.size, 3);
  assert.equal((await one.get(widgets)).items[0].spec.size, 3);
});

test('control planes that serve the same have the same documents, and others have their own', async () => {
  await using both = await two();
  const { one, other } = both;
  const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
  const document = async (server: TestServer, target: string, accept?: string): Promise<unknown> =>
    (await server.answer('GET', target, accept === undefined ? {} : { accept })).body;
  const targets = [['/apis', aggregated], ['/api', aggregated], ['/openapi/v2'], ['/openapi/v3']] as const;
  const compare = async (areSame: boolean): Promise<void> => {
    for (const [target, accept] of targets) {
      const [mine, theirs] = [await document(one, target, accept), await document(other, target, accept)];
      if (areSame) assert.equal(mine, theirs, target);
      else assert.notEqual(mine, theirs, target);
    }
  };
  await compare(true);
  await one.create(definitions, definition());
  await compare(false);
  for (const server of [one, other]) {
    await server.create(definitions, definition({ group: 'second.example.com' }));
  }
  await compare(false);
  // In a different order, which has no effect.
  await other.create(definitions, definition());
  await compare(true);
  await one.remove(`${definitions}/${name}`);
  await one.until('it is gone', async () => (await one.request('GET', widgets)).status === 404);
  await compare(false);
});
