/**
 * Proves the storage layout: a real kube-apiserver is started on the range of a tenant whose base was materialised. It lists the same
 * objects as Hangar, to the byte, with the same UIDs and resourceVersions; and it authenticates the same users by the same credentials.
 */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Access, Data } from './testing/access.ts';
import { everything, listedPaths } from './testing/everything.ts';
import type { Everything } from './testing/everything.ts';
import { administratorOf, eventually, startHangars, tenant, tenants } from './testing/hangars.ts';
import { startOnTenant } from './testing/kube-apiserver.ts';
import { makeObjects, widget } from './testing/objects.ts';

const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const configMaps = '/api/v1/namespaces/default/configmaps';
const robots = '/api/v1/namespaces/default/serviceaccounts/robot';

const encryption = (provider: string): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [
      {
        resources: ['secrets', 'configmaps', 'widgets.example.com'],
        providers: [
          { [provider]: { keys: [{ name: 'key1', secret: Buffer.alloc(32, 7).toString('base64') }] } },
          { identity: {} },
        ],
      },
    ],
  });

const tokenOf = async (access: Access): Promise<string> => {
  const request = { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec: {} };
  return (await access.create(`${robots}/token`, request)).status.token;
};

const whoIs = async (access: Access): Promise<string> => {
  const review = { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' };
  return (await access.create('/apis/authentication.k8s.io/v1/selfsubjectreviews', review)).status.userInfo.username;
};

/** Every object of `all` must be in `other`, the same in every byte. */
function assertSame(all: Everything, other: Everything): number {
  let count = 0;
  for (const [path, objects] of all) {
    const others = other.get(path);
    assert.ok(others, `${path} is not served`);
    for (const [name, object] of objects) {
      assert.deepEqual(others.get(name), object, `${path} ${name}`);
      count++;
    }
  }
  return count;
}

const namesOf = (all: Everything): string[] =>
  [...all].flatMap(([path, objects]) =>
    [...objects].map(([name, { metadata }]) => `${path} ${name} ${metadata.uid} ${metadata.resourceVersion}`),
  );

for (const provider of [undefined, 'aesgcm', 'secretbox'] as const) {
  const sealed = provider === undefined ? 'as they are' : `sealed with ${provider}`;
  describe(`a real kube-apiserver on a tenant's range, with values ${sealed},`, () => {
    test('lists the same objects, and knows the same users', async () => {
      const more: string[] = [];
      await using hangars = await startHangars(1, async (folder) => {
        if (provider === undefined) return [];
        const file = join(folder, 'encryption.json');
        await writeFile(file, encryption(provider));
        more.push(`--encryption-provider-config=${file}`);
        return more;
      });
      const { replicas, etcdUrl } = hangars;
      const [hangar] = replicas;
      const { root } = hangar!;
      await root.create(tenants, tenant('demo'));
      using admin = await administratorOf(hangar!, 'demo');
      await makeObjects(admin);
      await admin.remove(`${roles}/system:discovery`);
      await admin.merge('/api/v1/namespaces/kube-public', { metadata: { labels: { changed: 'yes' } } });
      await admin.merge(`${roles}/system:node`, { metadata: { annotations: { changed: 'yes' } } });
      const token = await tokenOf(admin);
      await root.expect(200, 'POST', `${tenants}/demo/materialise`);
      await root.merge(`${tenants}/demo`, { spec: { suspension: 'ReadOnly' } });
      const paths = await listedPaths(admin);
      const before = await everything(admin, paths);

      const keys = (await root.create(`${tenants}/demo/keys`, {})).status;
      await using dedicated = await startOnTenant({ etcdUrl, path: 'demo', keys, administrator: admin, more });
      const real = dedicated.administrator;
      const count = assertSame(before, await everything(real, paths));
      console.log(`${count} objects of ${paths.length} resources are the same`);
      assert.ok(count > 200);
      // Both list the objects that the real server has added.
      await eventually('both list the same', async () => {
        const [ours, theirs] = [await everything(admin, paths), await everything(real, paths)];
        try {
          assert.deepEqual(namesOf(ours), namesOf(theirs));
          return true;
        } catch {
          return false;
        }
      });
      await real.expect(404, 'GET', `${roles}/none`);

      assert.equal(await whoIs(real), 'admin');
      using robot = real.withToken(token);
      assert.equal(await whoIs(robot), 'system:serviceaccount:default:robot');
      await robot.get(configMaps);
      await robot.expect(403, 'GET', '/api/v1/namespaces/default/secrets');
      using ours = admin.withToken(await tokenOf(real));
      assert.equal(await whoIs(ours), 'system:serviceaccount:default:robot');

      // Handed over permanently or not: writes through one are visible in the other.
      const made = await real.create(configMaps, { metadata: { name: 'theirs' }, data: { from: 'the real one' } });
      assert.deepEqual(await admin.get(`${configMaps}/theirs`), made);
      await real.remove(`${roles}/system:basic-user`);
      await admin.expect(404, 'GET', `${roles}/system:basic-user`);
      await root.merge(`${tenants}/demo`, { spec: { suspension: null } });
      const widgets = '/apis/example.com/v1/namespaces/default/widgets';
      const own = await eventually('it is resumed', async () => {
        const got = await admin.ask('POST', widgets, { body: widget('ours') });
        return got.status === 201 && (got.data as Data);
      });
      assert.deepEqual((await real.get(`${widgets}/ours`)).metadata, own.metadata);
    });
  });
}
