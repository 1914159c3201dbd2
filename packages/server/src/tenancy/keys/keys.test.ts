import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import { hasCode, seededRandom, systemClock, systemRandom } from '@hangar/core';
import { absent, openMemoryStore } from '@hangar/store';
import type { Revision, Store } from '@hangar/store';
import { sealedStore } from '../../testing/sealed-store.ts';
import { ForwardingStore } from '../../objects/forwarding-store.ts';
import { encodeIdentity } from '../identity.ts';
import { identityKey, isKeysKey, keysKey, tenantPrefix } from '../layout.ts';
import { decodeKeys, encodeKeys } from './encoding.ts';
import { tenantKeys } from './keys.ts';
import type { TenantKeys } from './keys.ts';

const prefix = tenantPrefix('/registry', 'demo');
const identity = encodeIdentity({ seed: 's', createdAt: '2026-01-01T00:00:00Z' });

async function born(store: Store): Promise<Revision> {
  const result = await store.commit([{ type: 'put', key: identityKey(prefix), value: identity, expected: absent }]);
  return result.revision;
}

const keysIn = (store: Store, identityRevision: Revision): Promise<TenantKeys> =>
  tenantKeys({ store, prefix, path: 'demo', identityRevision, clock: systemClock, random: systemRandom });

const isNotFound = (error: unknown): boolean => hasCode(error, 'NotFound');

async function withStore(act: (store: Store) => Promise<void>): Promise<void> {
  const store = await openMemoryStore();
  await act(store).finally(() => store.close());
}

describe('the keys of a tenant', () => {
  test('are made once and are the same for everybody who asks at the same time', () =>
    withStore(async (store) => {
      const revision = await born(store);
      const all = await Promise.all(Array.from({ length: 8 }, () => keysIn(store, revision)));
      for (const keys of [...all, await keysIn(store, revision)]) assert.deepEqual(keys, all[0]);
    }));

  test('are two CAs with their own keys, and a key for tokens', () =>
    withStore(async (store) => {
      const { authority, frontProxyAuthority, serviceAccountKey } = await keysIn(store, await born(store));
      for (const [pair, name] of [
        [authority, 'CN=hangar-tenant-ca'],
        [frontProxyAuthority, 'CN=hangar-demo-front-proxy-ca'],
      ] as const) {
        const certificate = new X509Certificate(pair.certificate);
        assert.equal(certificate.subject, name);
        assert.ok(certificate.ca && certificate.checkPrivateKey(createPrivateKey(pair.key)));
      }
      const all = [authority.key, frontProxyAuthority.key, serviceAccountKey];
      assert.equal(new Set(all).size, 3);
      for (const key of all) {
        assert.equal(createPublicKey(key).asymmetricKeyDetails?.namedCurve, 'prime256v1');
      }
    }));

  test('are others in another tenant, and after the tenant was destroyed and made again', () =>
    withStore(async (store) => {
      const first = await keysIn(store, await born(store));
      await store.commit([{ type: 'deleteRange', range: { start: prefix, end: `${prefix}\uffff` } }]);
      const second = await keysIn(store, await born(store));
      assert.notEqual(first.authority.key, second.authority.key);
      assert.notEqual(first.serviceAccountKey, second.serviceAccountKey);
    }));

  test('are not made for a tenant that is not there, and nothing is written', () =>
    withStore(async (store) => {
      await assert.rejects(keysIn(store, 1 as Revision), isNotFound);
      const revision = await born(store);
      await store.commit([{ type: 'delete', key: identityKey(prefix) }]);
      await assert.rejects(keysIn(store, revision), isNotFound);
      assert.equal((await store.get(keysKey(prefix))).entry, undefined);
    }));

  test('are not given to a tenant whose place another one has taken', () =>
    withStore(async (store) => {
      const old = await born(store);
      await store.commit([{ type: 'delete', key: identityKey(prefix) }]);
      await keysIn(store, await born(store));
      await assert.rejects(keysIn(store, old), isNotFound);
    }));

  test('are not written when the tenant is destroyed while they are made', () =>
    withStore(async (store) => {
      const revision = await born(store);
      const destroying: Store = Object.create(store, {
        commit: {
          value: async (writes: Parameters<Store['commit']>[0]) => {
            await store.commit([{ type: 'delete', key: identityKey(prefix) }]);
            return store.commit(writes);
          },
        },
        get: { value: store.get.bind(store) },
      });
      await assert.rejects(keysIn(destroying, revision), isNotFound);
      assert.equal((await store.get(keysKey(prefix))).entry, undefined);
    }));

  test('take little space, and are read as they were written', () =>
    withStore(async (store) => {
      const keys = await keysIn(store, await born(store));
      const encoded = encodeKeys(keys);
      assert.ok(encoded.length < 1_280, `${encoded.length} bytes`);
      assert.deepEqual(decodeKeys(encoded), keys);
      assert.throws(() => decodeKeys(encoded.subarray(0, 600)));
      assert.throws(() => decodeKeys(Buffer.from([2, ...encoded.subarray(1)])), /form 2/);
    }));
});

describe('at rest', () => {
  const sealing = (store: Store, ...names: readonly string[]): Store => sealedStore(store, names, seededRandom(1));
  const raw = async (store: Store): Promise<Buffer> => Buffer.from((await store.get(keysKey(prefix))).entry!.value);

  test('they are sealed where secrets are, whole', () =>
    withStore(async (below) => {
      const above = sealing(below, 'one');
      const keys = await keysIn(above, await born(above));
      const stored = await raw(below);
      assert.match(stored.toString('latin1'), /^k8s:enc:secretbox:v1:one:/);
      assert.ok(!stored.includes('PRIVATE KEY'));
      for (const pem of [keys.authority.key, keys.frontProxyAuthority.key, keys.serviceAccountKey]) {
        const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
        assert.ok(!stored.includes(der) && !stored.includes(der.subarray(36, 68)));
        // Control: the encoded keys do contain them.
        assert.ok(encodeKeys(keys).includes(der.subarray(36, 68)));
      }
      // The identity is not secret.
      assert.deepEqual(Buffer.from((await below.get(identityKey(prefix))).entry!.value), identity);
    }));

  test('they are sealed anew when they are read after the key was replaced', () =>
    withStore(async (below) => {
      const revision = await born(below);
      const keys = await keysIn(sealing(below, 'one'), revision);
      assert.deepEqual(await keysIn(sealing(below, 'two', 'one'), revision), keys);
      assert.match((await raw(below)).toString('latin1'), /^k8s:enc:secretbox:v1:two:/);
      assert.deepEqual(await keysIn(sealing(below, 'two'), revision), keys);
    }));

  test('they are sealed anew by the next one who asks when the store could not be written to', () =>
    withStore(async (below) => {
      const revision = await born(below);
      const keys = await keysIn(sealing(below, 'one'), revision);
      class Full extends ForwardingStore {
        isFull = true;
        override commit(...all: Parameters<Store['commit']>): ReturnType<Store['commit']> {
          return this.isFull ? Promise.reject(new Error('the disk is full')) : super.commit(...all);
        }
      }
      const full = new Full(below);
      const above = sealing(full, 'two', 'one');
      assert.deepEqual(await keysIn(above, revision), keys);
      assert.match((await raw(below)).toString('latin1'), /^k8s:enc:secretbox:v1:one:/);
      full.isFull = false;
      assert.deepEqual(await keysIn(above, revision), keys);
      assert.match((await raw(below)).toString('latin1'), /^k8s:enc:secretbox:v1:two:/);
    }));
});

test('their place is told exactly', () => {
  assert.ok(isKeysKey('/registry', '/registry/clusters/demo/.hangar/keys'));
  for (const other of [
    '/registry/clusters/demo/.hangar/tenant',
    '/registry/clusters/demo/configmaps/.hangar/keys',
    '/registry/clusters/.hangar/keys',
    '/other/clusters/demo/.hangar/keys',
    '/registry/clusters/demo/.hangar/keys/a',
  ]) {
    assert.ok(!isKeysKey('/registry', other), other);
  }
});
