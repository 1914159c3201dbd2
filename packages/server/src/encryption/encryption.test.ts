import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { openMemoryStore } from '@hangar/store';
import type { Store } from '@hangar/store';
import { encryptionOf, EncryptionConfigurationError } from './configuration.ts';
import { isStale } from '../objects/stale.ts';
import { EncryptedStore } from './encrypted-store.ts';

const random = seededRandom(1);
const secret = (byte: number): string => Buffer.alloc(32, byte).toString('base64');
const secretKey = '/registry/clusters/root/secrets/default/a';
const mapKey = '/registry/clusters/root/configmaps/default/a';

const configuration = (resources: string[], providers: object[]): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources, providers }],
  });
const aesgcm = (...names: string[]): object => ({
  aesgcm: { keys: names.map((name) => ({ name, secret: secret(name.charCodeAt(0)) })) },
});
const secretbox = (...names: string[]): object => ({
  secretbox: { keys: names.map((name) => ({ name, secret: secret(name.charCodeAt(0)) })) },
});

const encrypted = (store: Store, text: string): Store =>
  new EncryptedStore(store, encryptionOf(text, '/registry', random));

const put = (store: Store, key: string, value: string) =>
  store.commit([{ type: 'put', key, value: Buffer.from(value) }]);
const text = async (store: Store, key: string): Promise<string | undefined> => {
  const { entry } = await store.get(key);
  return entry && Buffer.from(entry.value).toString('latin1');
};

for (const [name, provider] of [
  ['aesgcm', aesgcm('one')],
  ['aescbc', { aescbc: { keys: [{ name: 'one', secret: secret(1) }] } }],
  ['secretbox', secretbox('one')],
] as const) {
  test(`values are sealed with ${name} below and plain above, in reads, lists, conflicts and watches`, async () => {
    await using below = disposable(await openMemoryStore());
    const above = encrypted(below.store, configuration(['secrets'], [provider, { identity: {} }]));
    const watch = above.watch({ prefix: '/registry/', previous: true });
    await put(above, secretKey, 'hidden');
    await put(above, mapKey, 'shown');
    assert.match((await text(below.store, secretKey))!, new RegExp(`^k8s:enc:${name}:v1:one:`));
    assert.doesNotMatch((await text(below.store, secretKey))!, /hidden/);
    assert.equal(await text(below.store, mapKey), 'shown');
    assert.equal(await text(above, secretKey), 'hidden');
    const { entries } = await above.range({ start: '/registry/', end: '/registry0' });
    assert.deepEqual(
      entries.map(({ value }) => Buffer.from(value).toString()),
      ['shown', 'hidden'],
    );
    const conflict = await above.commit([
      { type: 'put', key: secretKey, value: Buffer.from('x'), expected: 0 as never },
    ]);
    assert.ok(!conflict.committed);
    assert.equal(Buffer.from(conflict.conflicts[0]!.entry!.value).toString(), 'hidden');
    await above.commit([{ type: 'delete', key: secretKey }]);
    const [created, , deleted] = [await watch.next(), await watch.next(), await watch.next()];
    assert.ok(created?.events[0]?.type === 'put');
    assert.equal(Buffer.from(created.events[0].entry.value).toString(), 'hidden');
    assert.equal(Buffer.from(deleted!.events[0]!.previous!.value).toString(), 'hidden');
    watch.close();
  });
}

test('watches share what was opened, and what needed no opening is passed on as it is', async () => {
  await using below = disposable(await openMemoryStore());
  const above = encrypted(below.store, configuration(['secrets'], [secretbox('one')]));
  const watches = [above, above, below.store].map((store) => store.watch({ prefix: '/registry/' }));
  await put(above, secretKey, 'hidden');
  await put(above, mapKey, 'shown');
  const [first, second, raw] = await Promise.all(
    watches.map(async (watch) => [await watch.next(), await watch.next()]),
  );
  assert.equal(first![0], second![0]);
  assert.notEqual(first![0], raw![0]);
  assert.equal(first![1], raw![1]);
  for (const watch of watches) watch.close();
});

test('keys are rotated by putting a new one first; old values open, and are stale until they are written again', async () => {
  await using below = disposable(await openMemoryStore());
  await put(encrypted(below.store, configuration(['secrets'], [aesgcm('a')])), secretKey, 'hidden');
  const rotated = encrypted(below.store, configuration(['secrets'], [aesgcm('b', 'a')]));
  const { entry } = await rotated.get(secretKey);
  assert.ok(isStale(entry!));
  await put(rotated, secretKey, 'hidden');
  assert.equal(isStale((await rotated.get(secretKey)).entry!), false);
  const last = encrypted(below.store, configuration(['secrets'], [secretbox('c'), aesgcm('b')]));
  assert.equal(await text(last, secretKey), 'hidden');
});

test('a value that was moved to another key, changed, or sealed with an unknown key does not open', async () => {
  await using below = disposable(await openMemoryStore());
  const above = encrypted(below.store, configuration(['secrets'], [aesgcm('a'), { identity: {} }]));
  await put(above, secretKey, 'hidden');
  const { entry } = await below.store.get(secretKey);
  const elsewhere = secretKey.replace('default', 'other');
  await below.store.commit([{ type: 'put', key: elsewhere, value: entry!.value }]);
  await assert.rejects(above.get(elsewhere), /no configured key can decrypt a stored value/);
  const changed = Uint8Array.from(entry!.value);
  changed[changed.length - 1]! ^= 1;
  await below.store.commit([{ type: 'put', key: secretKey, value: changed }]);
  await assert.rejects(above.get(secretKey), /no configured key/);
  const other = encrypted(below.store, configuration(['secrets'], [aesgcm('z')]));
  await assert.rejects(other.get(elsewhere), /no configured key/);
});

test('plain values are refused unless the configuration allows them', async () => {
  await using below = disposable(await openMemoryStore());
  await put(below.store, secretKey, '{}');
  const strict = encrypted(below.store, configuration(['secrets'], [aesgcm('a')]));
  await assert.rejects(strict.get(secretKey), /not encrypted/);
  const lenient = encrypted(below.store, configuration(['secrets'], [aesgcm('a'), { identity: {} }]));
  assert.ok(isStale((await lenient.get(secretKey)).entry!));
});

test('resources are chosen by name, by group and all, of every control plane; the first rule that names one counts', () => {
  const transformed = (patterns: string[], key: string): boolean =>
    encryptionOf(configuration(patterns, [aesgcm('a')]), '/registry', random)(`/registry/clusters/${key}`) !==
    undefined;
  assert.ok(transformed(['secrets'], 'other/secrets/default/a'));
  assert.ok(transformed(['deployments.apps'], 'root/deployments/default/a'));
  assert.ok(transformed(['widgets.example.com'], 'root/example.com/widgets/default/a'));
  assert.ok(transformed(['*.example.com'], 'root/example.com/widgets/default/a'));
  assert.ok(transformed(['*.'], 'root/services/specs/default/a'));
  assert.ok(transformed(['*.*'], 'root/minions/a'));
  assert.ok(transformed(['secrets'], 'demo/.hangar/keys'));
  assert.ok(transformed(['*.'], 'demo/.hangar/keys'));
  assert.ok(transformed(['*.*'], 'demo/.hangar/keys'));
  assert.ok(!transformed(['configmaps'], 'demo/.hangar/keys'));
  assert.ok(!transformed(['secrets'], 'demo/.hangar/tenant'));
  assert.ok(!transformed(['secrets'], 'demo/configmaps/.hangar/keys'));
  assert.ok(!transformed(['*.'], 'root/deployments/default/a'));
  assert.ok(!transformed(['secrets'], 'root/configmaps/secrets/secrets'));
  assert.ok(!transformed(['secrets'], 'secrets/configmaps/default/a'));
});

for (const [wrong, message] of [
  ['kind: Pod', /must be an EncryptionConfiguration/],
  ['{', /./],
  [configuration([], [aesgcm('a')]), /resources\[0\]\.resources: must have at least one/],
  [configuration(['secrets'], []), /providers: must have at least one/],
  [configuration(['secrets'], [{ kms: {} }]), /kms is not one of identity, aesgcm, aescbc, secretbox/],
  [configuration(['secrets'], [{ constructor: {} }]), /constructor is not one of/],
  [configuration(['secrets'], [{ aesgcm: { keys: [{ name: 'a', secret: 'c2hvcnQ=' }] } }]), /16 or 24 or 32 bytes/],
  [configuration(['secrets'], [{ secretbox: { keys: [{ name: 'a:b', secret: secret(1) }] } }]), /colon/],
  [configuration(['secrets'], [{ identity: { keys: [] } }]), /identity\.keys: unknown field/],
  [
    configuration(['secrets'], [{ aesgcm: { keys: [{ nam: 'a' }] } }]),
    /^resources\[0\]\S+keys\[0\]\.nam: unknown field$/,
  ],
  [configuration(['secrets'], [{ aesgcm: { key: [] } }]), /aesgcm\.key: unknown field/],
  [`{"resources": [], ${configuration(['secrets'], [aesgcm('a')]).slice(1)}`, /"resources" already set/],
] as const) {
  test(`a configuration that is wrong is refused with ${message}`, () => {
    assert.throws(
      () => encryptionOf(wrong, '/registry', random),
      (error) => {
        assert.ok(error instanceof EncryptionConfigurationError);
        assert.match(error.message, message);
        return true;
      },
    );
  });
}

const disposable = (store: Store) => ({ store, [Symbol.asyncDispose]: () => store.close() });
