/** The search service as a program behind the real kube-apiserver, killed and started again. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startRealServer } from '@hangar/api/testing';
import type { RealServer } from '@hangar/api/testing';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { SearchStatus } from './api/search.ts';

const token = 'search-service';
const reader = 'reader-of-north';
const fieldManager = 'fieldManager=test&force=true';

async function frontProxyFlags(folder: string): Promise<string[]> {
  const world = { clock: systemClock, random: systemRandom };
  const ca = createAuthority('front-proxy-ca', 1, world);
  const client = issueCertificate(ca, { commonName: 'front-proxy-client', usage: 'client', days: 1 }, world);
  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  return [
    `--requestheader-client-ca-file=${await file('ca.crt', ca.certificate)}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${await file('proxy.crt', client.certificate)}`,
    `--proxy-client-key-file=${await file('proxy.key', client.key)}`,
  ];
}

const kubeconfig = (server: string): string =>
  JSON.stringify({
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    clusters: [{ name: 'a', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'a', user: { token } }],
  });

async function apply(real: RealServer, path: string, object: object): Promise<void> {
  const { status, body } = await real.request('PATCH', `${path}?${fieldManager}`, {
    body: JSON.stringify(object),
    contentType: 'application/apply-patch+yaml',
  });
  assert.ok(status < 300, `${path}: ${status} ${body.toString()}`);
}

const configMap = (real: RealServer, namespace: string, name: string, text: string): Promise<void> =>
  apply(real, `/api/v1/namespaces/${namespace}/configmaps/${name}`, {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { namespace, name },
    data: { text },
  });

/** Starts the program and registers it. */
async function start(real: RealServer, folder: string): Promise<ChildProcess> {
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const args = ['--kubeconfig', join(folder, 'kubeconfig'), '--index', join(folder, 'index'), '--cluster', 'only'];
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { items } = JSON.parse(line) as { items: { kind: string; metadata: { name: string } }[] };
  for (const item of items) {
    const path =
      item.kind === 'Service'
        ? '/api/v1/namespaces/kube-system/services'
        : '/apis/apiregistration.k8s.io/v1/apiservices';
    await apply(real, `${path}/${item.metadata.name}`, item);
  }
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Returns the names of the results; undefined while the API is not available or the index is not complete. */
async function search(real: RealServer, query: string, as?: string): Promise<string[] | undefined> {
  const { status, body } = await real.request('POST', '/apis/search.miloapis.com/v1alpha1/searches', {
    body: JSON.stringify({
      kind: 'Search',
      apiVersion: 'search.miloapis.com/v1alpha1',
      metadata: { name: 'q' },
      spec: { query },
    }),
    ...(as === undefined ? {} : { token: as }),
  });
  if (status !== 201) return undefined;
  const { results, incomplete } = (JSON.parse(body.toString()) as { status: SearchStatus }).status;
  if (incomplete) return undefined;
  assert.ok(results.every(({ cluster }) => cluster === 'only'));
  return results.map(({ name }) => name).toSorted();
}

async function until(real: RealServer, query: string, expected: readonly string[]): Promise<void> {
  while (JSON.stringify(await search(real, query)) !== JSON.stringify(expected)) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a search behind kube-apiserver follows its objects and its RBAC, also after kill -9', async () => {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'search-real-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const users = [
    { token, user: 'search-service', groups: ['system:masters'] },
    { token: reader, user: 'reader', groups: ['readers'] },
  ];
  const real = opened.use(
    await startRealServer(['--authorization-mode=RBAC', ...(await frontProxyFlags(folder))], users),
  );
  await writeFile(join(folder, 'kubeconfig'), kubeconfig(real.url));
  const namespaces = '/api/v1/namespaces';
  for (const name of ['north', 'south', 'kube-system']) {
    await apply(real, `${namespaces}/${name}`, { kind: 'Namespace', apiVersion: 'v1', metadata: { name } });
  }
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'reader' }];
  const bind = async (path: string, kind: string, metadata: object, rules: object[]): Promise<void> => {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind, name: 'reader' };
    const plural = `${kind.toLowerCase()}s`;
    await apply(real, `${rbac}${path}/${plural}/reader`, { kind, apiVersion, metadata, rules });
    const binding = { kind: `${kind}Binding`, apiVersion, metadata, roleRef, subjects };
    await apply(real, `${rbac}${path}/${kind.toLowerCase()}bindings/reader`, binding);
  };
  const searches = { apiGroups: ['search.miloapis.com'], resources: ['searches'], verbs: ['create'] };
  await bind('', 'ClusterRole', { name: 'reader' }, [searches]);
  const maps = { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] };
  await bind('/namespaces/north', 'Role', { namespace: 'north', name: 'reader' }, [maps]);
  await bind('/namespaces/south', 'Role', { namespace: 'south', name: 'reader' }, [{ ...maps, resourceNames: ['b'] }]);
  for (const [namespace, name] of [
    ['north', 'a'],
    ['south', 'b'],
    ['south', 'c'],
  ] as const) {
    await configMap(real, namespace, name, 'kiwi');
  }
  let child = await start(real, folder);
  opened.defer(() => kill(child));
  await until(real, 'kiwi', ['a', 'b', 'c']);
  assert.deepEqual(await search(real, 'kiwi', reader), ['a', 'b']);
  // Killed between writes: the rest is found after the restart.
  for (let at = 0; at < 20; at++) {
    await configMap(real, 'north', `n${at}`, 'lime');
    if (at === 10) await kill(child);
  }
  await real.request('DELETE', `${namespaces}/south/configmaps/c`);
  child = await start(real, folder);
  const all = Array.from({ length: 20 }, (_, at) => `n${at}`).toSorted();
  await until(real, 'lime', all);
  await until(real, 'kiwi', ['a', 'b']);
  assert.deepEqual(await search(real, 'lime', reader), all);
});
