/**
 * A control plane moves from virtual to dedicated and back while its users work: a client that writes, informers of client-go, kubectl with
 * a kubeconfig from before. Its objects keep UIDs and resourceVersions. Figures with 20,000 objects: `npm run bench -- migration`.
 */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startInformers } from '../backup/informers/informers.ts';
import type { Informers } from '../backup/informers/informers.ts';
import { AcknowledgedWrites } from './testing/acknowledged-writes.ts';
import { HostedPlatform } from './testing/platform.ts';

const objects = 300;

interface Listed {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  }[];
}

describe('migration', () => {
  let platform: HostedPlatform;
  let writes: AcknowledgedWrites;
  let informers: Informers;
  let initial: readonly string[];

  const app = (...args: readonly string[]): Promise<string> => platform.kubectl('app.kubeconfig', ...args);
  /** Objects that only users write: the components of a dedicated control plane change some of the default ones. */
  const versions = async (): Promise<string[]> => {
    const text = await app('get', 'configmaps,serviceaccounts', '-n', 'filled', '-o', 'json');
    const users = (JSON.parse(text) as Listed).items.filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt');
    return users.map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`);
  };

  before(async () => {
    platform = await HostedPlatform.start();
    await platform.hangar('create', 'app', '-o', 'app.kubeconfig');
    await app('create', 'namespace', 'filled');
    const list = { apiVersion: 'v1', kind: 'List', items: Array.from({ length: objects }, (_, at) => configMap(at)) };
    await platform.create('app.kubeconfig', list);
    await app('create', 'serviceaccount', 'robot', '-n', 'filled');
    initial = await versions();
    informers = await startInformers(join(platform.folder, 'app.kubeconfig'));
    writes = await AcknowledgedWrites.start(await platform.text('app.kubeconfig'), { perSecond: 50 });
  });
  after(async () => {
    await informers?.[Symbol.asyncDispose]();
    await writes?.[Symbol.asyncDispose]();
    await platform?.[Symbol.asyncDispose]();
  });

  test('virtual to dedicated: a real kube-apiserver answers at the same address with the same objects', async () => {
    await platform.migrate('app', 'dedicated');
    assert.match(
      await platform.hangar('get'),
      /^app +Dedicated +True +Ready +https:\S+\/clusters\/app\/control-plane /m,
    );
    assert.deepEqual(await versions(), initial);
    assert.match(await app('version', '-o', 'json'), /"buildDate": "\d{4}/);
    await app('auth', 'can-i', '*', '*');
    // Pods trust the certificate of the port of the tenant and that of the address.
    await app('create', 'namespace', 'new');
    await app('wait', '--for=create', 'configmap/kube-root-ca.crt', '-n', 'new', '--timeout=240s');
    const rootCa = await app('get', 'configmap/kube-root-ca.crt', '-n', 'new', '-o', 'jsonpath={.data.ca\\.crt}');
    assert.equal(rootCa.match(/BEGIN CERTIFICATE/g)?.length, 2);
    await writes.more(100);
  });

  test('dedicated to virtual: the tenant has everything that was written meanwhile', async () => {
    await app('create', 'configmap', 'written-when-dedicated', '-n', 'filled');
    const written = (await versions()).find((line) => line.startsWith('written-when-dedicated '));
    await platform.migrate('app', 'virtual');
    assert.match(await platform.hangar('get'), /^app +Virtual +True +Ready +https:\S+\/clusters\/app\/control-plane /m);
    assert.deepEqual(
      (await versions()).filter((line) => line !== written),
      initial,
    );
    assert.ok((await versions()).includes(written!));
    await writes.more(100);
  });

  test('nothing acknowledged is lost or done twice, no request fails, and the informers have seen all of it', async () => {
    const file = join(platform.folder, 'versions');
    const { faults, failures, acknowledged, longestPauseMs, p99Ms } = await writes.finish(file);
    console.log(`${acknowledged} writes, longest pause ${Math.round(longestPauseMs)} ms, p99 ${Math.round(p99Ms)} ms`);
    assert.deepEqual(faults, []);
    assert.deepEqual([...failures], []);
    assert.equal(await informers.missed(file), 0);
    const { relists } = await informers.compare();
    console.log(`${relists} relists`);
  });
});

const configMap = (at: number): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'filled', name: `filled-${at}` },
  data: { text: 'x'.repeat(500) },
});
