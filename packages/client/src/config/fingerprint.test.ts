import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAuthority } from '@hangar/testkit';
import { fingerprintOf } from './fingerprint.ts';
import { configOfKubeconfig } from './kubeconfig.ts';
import { base64, kubeconfig } from './testing/files.ts';
import type { Parts } from './testing/files.ts';

const of = async (parts: Parts = {}): Promise<string> =>
  fingerprintOf(await configOfKubeconfig(kubeconfig(parts), { allowFiles: true, allowExec: true, baseFolder: '/etc' }));

test('a configuration has the same fingerprint as its equal, and another one for every change that matters', async () => {
  const authority = testAuthority();
  const exec = { apiVersion: 'client.authentication.k8s.io/v1beta1', command: 'a' };
  const [one, other] = [authority.client('u'), authority.client('u')];
  const byCertificate = ({ certificate, key }: typeof one) => ({
    user: { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) },
  });
  const all: Parts[] = [
    {},
    { cluster: { server: 'https://elsewhere' } },
    { cluster: { 'certificate-authority-data': base64(authority.certificate) } },
    { cluster: { 'insecure-skip-tls-verify': true } },
    { cluster: { 'tls-server-name': 'x' } },
    { cluster: { 'proxy-url': 'http://x' } },
    { context: { namespace: 'x' } },
    { user: { token: 'a' } },
    { user: { token: 'b' } },
    { user: { username: 'a', password: 'b' } },
    { user: { tokenFile: 'a' } },
    { user: { tokenFile: 'b' } },
    { user: { as: 'a' } },
    { user: { as: 'a', 'as-groups': ['b'] } },
    { user: { exec } },
    { user: { exec: { ...exec, args: ['b'] } } },
    { user: { exec: { ...exec, env: [{ name: 'b', value: 'c' }] } } },
    byCertificate(one),
    byCertificate(other),
    { user: { 'client-certificate': 'a', 'client-key': 'b' } },
  ];
  const prints = await Promise.all(all.map(of));
  assert.equal(new Set(prints).size, all.length);
  assert.deepEqual(await Promise.all(all.map(of)), prints);
  const extra = (names: readonly string[]) =>
    of({ user: { as: 'a', 'as-user-extra': Object.fromEntries(names.map((name) => [name, ['x']])) } });
  assert.equal(await extra(['a', 'b']), await extra(['b', 'a']), 'order that means nothing is none');
  for (const print of prints) assert.match(print, /^[\w-]{43}$/);
});

test('credentials that do not say what they are differ from all others', () => {
  const [one, other] = [{ headers: () => ({}) }, { headers: () => ({}) }];
  const server = 'https://a';
  assert.equal(fingerprintOf({ server, credentials: one }), fingerprintOf({ server, credentials: one }));
  assert.notEqual(fingerprintOf({ server, credentials: one }), fingerprintOf({ server, credentials: other }));
});
