/**
 * Users of an OpenID Connect issuer, with kubectl: a virtual control plane and a real kube-apiserver with the same configuration give the
 * same answer to each token. Then kubeconfigs for users, and the exec plugin.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startRealServer } from '@hangar/api/testing';
import { testAuthority } from '@hangar/testkit';
import { TestIssuer } from '../../packages/server/src/auth/oidc/testing/issuer.ts';
import { tool } from '../../tools/tool.ts';

const bin = fileURLToPath(new URL('../../bin/', import.meta.url));
const authority = testAuthority('issuer');
const now = Math.floor(Date.now() / 1_000);

let folder: string;
let hangarServer: ChildProcess;
let kubectlPath: string;
let issuer: TestIssuer;
const { key, certificate: cert } = authority.serving();
const issuerServer = createServer({ key, cert });

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  HOME: folder,
  KUBECONFIG: '',
  PATH: `${folder}:${dirname(process.execPath)}:${dirname(kubectlPath)}:${process.env['PATH']}`,
});

async function run(program: string, args: readonly string[], input?: string): Promise<Ended> {
  const child = spawn(program, args, { cwd: folder, env: environment(), stdio: ['pipe', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (data: Buffer) => (out += data.toString()));
  child.stderr.on('data', (data: Buffer) => (err += data.toString()));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}

async function well(ended: Promise<Ended>): Promise<string> {
  const { code, out, err } = await ended;
  assert.equal(code, 0, `${out}\n${err}`);
  return out;
}

const hangar = (...words: string[]): Promise<Ended> => run('hangar', words);
const admin = (...words: string[]): string[] => ['--kubeconfig', join(folder, '.data', 'admin.kubeconfig'), ...words];
const apply = (object: object): Promise<string> =>
  well(run(kubectlPath, admin('apply', '-f', '-'), JSON.stringify(object)));

/** Returns the user name and the groups; undefined: 401. */
async function whoami(...connection: string[]): Promise<{ username: string; groups: string[] } | undefined> {
  const { code, out, err } = await run(kubectlPath, [...connection, 'auth', 'whoami', '-o', 'json']);
  if (code !== 0) {
    assert.match(err, /Unauthorized|must be logged in/);
    return undefined;
  }
  const { userInfo } = (JSON.parse(out) as { status: { userInfo: { username: string; groups: string[] } } }).status;
  return { username: userInfo.username, groups: userInfo.groups };
}

/** Kubeconfig without a credential. */
async function kubeconfigOf(name: string, server: string): Promise<string> {
  const file = join(folder, name);
  const cluster = { server, 'insecure-skip-tls-verify': true };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    users: [{ name, user: {} }],
    'current-context': name,
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}

const controlPlane = (spec: object) => ({
  apiVersion: 'controlplane.kplane.dev/v1alpha1',
  kind: 'ControlPlane',
  metadata: { name: 'blue' },
  spec,
});

/** Retries until the result is there: the configuration takes effect after the answer to `kubectl apply`. */
async function until<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await attempt();
    if (found !== undefined) return found;
  }
}

before(async () => {
  kubectlPath = await tool('kubectl');
  folder = await mkdtemp(join(tmpdir(), 'hangar-users-'));
  await symlink(join(bin, 'hangar.js'), join(folder, 'hangar'));
  issuerServer.on('request', (request, answer) => {
    const document = issuer.document(request.url ?? '');
    answer.writeHead(document ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(document ?? {}));
  });
  issuerServer.listen(0, '127.0.0.1');
  await once(issuerServer, 'listening');
  issuer = new TestIssuer(`https://127.0.0.1:${(issuerServer.address() as AddressInfo).port}`);
  const words = ['up', '--data-dir', '.data', '--port', '0', '--outbound-allow-cidr', '127.0.0.0/8'];
  hangarServer = spawn(process.execPath, [join(bin, 'hangar.js'), ...words], {
    cwd: folder,
    env: environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface(hangarServer.stdout!)) if (line.startsWith('ready ')) break;
});

after(async () => {
  issuerServer.closeAllConnections();
  issuerServer.close();
  if (hangarServer?.exitCode === null) {
    hangarServer.kill('SIGTERM');
    await once(hangarServer, 'exit');
  }
  await rm(folder, { recursive: true, force: true });
});

describe('users of a control plane', { concurrency: false }, () => {
  test('an issuer has the same users in a virtual control plane and in kube-apiserver', async () => {
    const jwt = [
      {
        issuer: { url: issuer.url, audiences: ['hangar'], certificateAuthority: authority.certificate },
        claimMappings: {
          username: { claim: 'sub', prefix: '' },
          groups: { expression: 'claims.?groups.orValue([])' },
        },
        claimValidationRules: [{ expression: "claims.?tenant.orValue('blue') == 'blue'" }],
      },
    ];
    await well(hangar('create', 'blue'));
    const address = parsedServer(await well(hangar('kubeconfig', 'blue', '-o', 'json')));
    const virtual = await kubeconfigOf('virtual', address);
    const known = issuer.token({});
    assert.equal(await whoami('--kubeconfig', virtual, '--token', known), undefined);
    await apply(controlPlane({ authentication: { jwt } }));
    await until(() => whoami('--kubeconfig', virtual, '--token', known));
    // The configuration of the Tenant is also that of a HostedControlPlane.
    const tenant = await well(run(kubectlPath, admin('get', 'tenant', 'blue', '-o', 'json')));
    const { authentication } = (JSON.parse(tenant) as { spec: { authentication: object } }).spec;
    const file = join(folder, 'authentication.json');
    const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration' };
    await writeFile(file, JSON.stringify({ ...kind, ...authentication }));
    await using real = await startRealServer([`--authentication-config=${file}`]);
    const reference = await kubeconfigOf('reference', real.url);
    await until(() => whoami('--kubeconfig', reference, '--token', known));
    const tokens: Readonly<Record<string, string>> = {
      'a user': known,
      'a user with groups': issuer.token({ groups: ['dev', 'ops'] }),
      'another tenant': issuer.token({ tenant: 'red' }),
      'another audience': issuer.token({ aud: 'other' }),
      expired: issuer.token({ exp: now - 600 }),
      forged: new TestIssuer(issuer.url).token({}),
      'a reserved group': issuer.token({ groups: ['dev', 'system:masters'] }),
      'a reserved name': issuer.token({ sub: 'system:admin' }),
    };
    const accepted: string[] = [];
    for (const [title, token] of Object.entries(tokens)) {
      const ours = await whoami('--kubeconfig', virtual, '--token', token);
      assert.deepEqual(ours, await whoami('--kubeconfig', reference, '--token', token), title);
      if (ours) accepted.push(`${title}: ${ours.username} ${ours.groups.join()}`);
    }
    assert.deepEqual(accepted, [
      'a user: jane system:authenticated',
      'a user with groups: jane dev,ops,system:authenticated',
    ]);
    await well(hangar('create', 'red'));
    const other = await kubeconfigOf('red', address.replace('/blue/', '/red/'));
    assert.equal(await whoami('--kubeconfig', other, '--token', known), undefined);
  });

  test('kubeconfigs of users have their name and groups, also through the exec plugin', async () => {
    const options = ['--user', 'kim', '--group', 'dev,ops', '--expires', '1h'];
    const wanted = { username: 'kim', groups: ['dev', 'ops', 'system:authenticated'] };
    await well(hangar('kubeconfig', 'blue', ...options, '-o', 'kim.kubeconfig'));
    assert.deepEqual(await whoami('--kubeconfig', join(folder, 'kim.kubeconfig')), wanted);
    await well(hangar('kubeconfig', 'blue', ...options, '--exec', '-o', 'exec.kubeconfig'));
    for (let round = 0; round < 2; round++) {
      assert.deepEqual(await whoami('--kubeconfig', join(folder, 'exec.kubeconfig')), wanted);
    }
    await well(hangar('kubeconfig', 'blue', '--exec', '-o', 'admin.kubeconfig'));
    const { groups } = (await whoami('--kubeconfig', join(folder, 'admin.kubeconfig')))!;
    assert.ok(groups.includes('system:authenticated'));
  });
});

const parsedServer = (text: string): string =>
  (JSON.parse(text) as { clusters: [{ cluster: { server: string } }] }).clusters[0].cluster.server;
