import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configOfKubeconfig, fingerprintOf } from '@hangar/client';
import { testAuthority } from '@hangar/testkit';
import { kubeconfigOf } from './kubeconfig-file.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const authority = testAuthority();
const pair = authority.client('somebody');
const certificate = {
  'client-certificate-data': base64(pair.certificate),
  'client-key-data': base64(pair.key),
};

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
}

const document = ({ cluster, user, context }: Parts): object => ({
  clusters: [
    { name: 'c', cluster: { server: 'https://a:6443/path', ...cluster } },
    { name: 'hidden', cluster: { server: 'https://hidden' } },
  ],
  users: [
    { name: 'u', user: { ...user } },
    { name: 'hidden', user: { exec: { command: '/bin/hidden' } } },
  ],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', ...context } }],
  'current-context': 'x',
});

const cases: Readonly<Record<string, Parts>> = {
  'nobody in particular': {},
  'a token': { user: { token: 'abc' } },
  'a certificate': { user: certificate },
  'a certificate and a token': { user: { ...certificate, token: 'abc' } },
  'a name and a password with colons': { user: { username: 'me', password: 'a:b:ä' } },
  'whom to act as': {
    user: { token: 'a', as: 'x', 'as-uid': 'u', 'as-groups': ['g', 'h'], 'as-user-extra': { k: ['v'] } },
  },
  'an authority, a name, a proxy': {
    cluster: {
      'certificate-authority-data': base64(authority.certificate),
      'tls-server-name': 'name',
      'proxy-url': 'http://proxy:3128',
      'disable-compression': true,
    },
    user: { token: 'a' },
  },
  'no verification': { cluster: { 'insecure-skip-tls-verify': true }, user: { token: 'a' } },
  'a namespace': { context: { namespace: 'n' } },
};

for (const [what, parts] of Object.entries(cases)) {
  test(`what is written means the same as what was read: ${what}`, async () => {
    const config = await configOfKubeconfig(document(parts));
    const written = await kubeconfigOf(config);
    assert.equal(fingerprintOf(await configOfKubeconfig(written)), fingerprintOf(config));
    assert.equal(await kubeconfigOf(await configOfKubeconfig(written)), written);
    assert.ok(!written.includes('hidden'), 'nothing of other contexts');
  });
}

test('what would go over an open line is not written', async () => {
  const config = await configOfKubeconfig(document({ cluster: { server: 'http://a' }, user: { token: 'abc' } }));
  assert.ok(!(await kubeconfigOf(config)).includes('abc'));
});
