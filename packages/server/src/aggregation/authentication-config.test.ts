import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAuthority } from '@hangar/pki';
import { TestServer } from '../testing/test-server.ts';
import { publishAuthentication } from './authentication-config.ts';
import { world } from './testing/hub.ts';

const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';

test('what aggregated servers need to know is published, beside what other replicas published', async () => {
  await using server = await TestServer.start();
  const [users, proxies, others] = ['users', 'proxies', 'others'].map((name) => createAuthority(name, 1, world));
  const published = {
    clientCa: users!.certificate,
    frontProxyCa: proxies!.certificate,
    allowedNames: ['front-proxy-client'],
  };
  await publishAuthentication(server.plane, published);
  const { data, metadata } = await server.get(path);
  assert.deepEqual(data, {
    'client-ca-file': users!.certificate,
    'requestheader-allowed-names': '["front-proxy-client"]',
    'requestheader-client-ca-file': proxies!.certificate,
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-username-headers': '["X-Remote-User"]',
  });
  await publishAuthentication(server.plane, published);
  assert.equal((await server.get(path)).metadata.resourceVersion, metadata.resourceVersion, 'nothing was written');

  const expired = createAuthority('expired', 1, { ...world, clock: { ...world.clock, now: () => Date.now() - 1e9 } });
  await server.merge(path, {
    data: {
      'client-ca-file': `${others!.certificate}nonsense${expired.certificate}`,
      'requestheader-allowed-names': '["other", 7]',
      'requestheader-group-headers': 'no list',
    },
  });
  await publishAuthentication(server.plane, published);
  const merged = (await server.get(path)).data;
  assert.equal(merged['client-ca-file'], `${users!.certificate}${others!.certificate}`);
  assert.equal(merged['requestheader-allowed-names'], '["front-proxy-client","other"]');
  assert.equal(merged['requestheader-group-headers'], '["X-Remote-Group"]');
});
