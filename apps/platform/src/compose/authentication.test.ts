import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Logger, systemClock, systemRandom } from '@hangar/core';
import { createAuthority } from '@hangar/pki';
import { Outbound } from '@hangar/server';
import { authentication } from './authentication.ts';
import { loadCredentials } from './credentials.ts';
import type { Credentials } from './credentials.ts';
import { readOptions, UsageError } from '../options/options.ts';
import { FollowedFiles } from './followed-file.ts';
import type { PlatformOptions } from '../options/options.ts';

const world = { clock: systemClock, random: systemRandom };
let folder: string;
let credentials: Credentials;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hangar-authentication-'));
  credentials = await loadCredentials({ dataDirectory: folder }, [], world);
});
after(() => rm(folder, { recursive: true, force: true }));

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

const outside = {
  outbound: new Outbound(),
  files: new FollowedFiles({
    clock: systemClock,
    log: new Logger({ level: 'silent', format: 'json', clock: systemClock }),
  }),
};
after(() => {
  outside.files.close();
  return outside.outbound.close();
});
const read = (...args: string[]) => authentication(readOptions(args) as PlatformOptions, credentials, outside);
const plane = { clock: systemClock } as never;

test('tokens are signed by the key that was made here, and verified by those that are named besides', async () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const old = await file('old.pub', publicKey.export({ type: 'spki', format: 'pem' }));
  const { serviceAccounts } = (await read('--service-account-key-file', old)).of(plane);
  assert.deepEqual(serviceAccounts?.keys.algorithms, ['ES256', 'RS256']);
  assert.deepEqual(serviceAccounts?.audiences, ['https://kubernetes.default.svc.cluster.local']);
});

test('a file that is no key, no certificate or not there is told to whoever named it', async () => {
  const text = await file('text', 'hello');
  for (const args of [
    ['--service-account-key-file', text],
    ['--service-account-signing-key-file', text],
    ['--service-account-signing-key-file', join(folder, 'absent')],
    ['--requestheader-client-ca-file', text],
    ['--token-file', join(folder, 'absent')],
  ]) {
    await assert.rejects(read(...args), UsageError, args.join(' '));
  }
});

test('connections may show certificates of users and of proxies, and where both are of one CA the proxies are named', async () => {
  assert.equal((await read()).clientCas, credentials.authority.certificate);
  const proxies = createAuthority('proxies', 1, world);
  const ca = await file('proxies.crt', proxies.certificate);
  const { clientCas } = await read('--requestheader-client-ca-file', ca);
  assert.ok(clientCas.includes(credentials.authority.certificate) && clientCas.includes(proxies.certificate));
  const both = await file('both.crt', `${proxies.certificate}\n${credentials.authority.certificate}`);
  await assert.rejects(read('--requestheader-client-ca-file', both), UsageError);
  await read('--requestheader-client-ca-file', both, '--requestheader-allowed-names', 'front-proxy-client');
});

test('the CA of users does not become that of proxies later either', async () => {
  const [users, proxies] = [createAuthority('users', 1, world), createAuthority('proxies', 1, world)];
  const given = await file('users.crt', users.certificate);
  const ca = await file('only-proxies.crt', proxies.certificate);
  const flags = ['--client-ca-file', given, '--requestheader-client-ca-file', ca];
  const unnamed = await read(...flags);
  const both = `${users.certificate}\n${proxies.certificate}`;
  assert.throws(() => unnamed.useGivenCas(both), UsageError);
  assert.ok(unnamed.useGivenCas(users.certificate).includes(users.certificate));
  const named = await read(...flags, '--requestheader-allowed-names', 'front-proxy-client');
  assert.ok(named.useGivenCas(both).includes(users.certificate));
});
