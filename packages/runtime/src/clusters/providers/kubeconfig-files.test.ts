import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ClusterConfig } from '@hangar/client';
import { kubeconfigFiles } from './kubeconfig-files.ts';
import type { KubeconfigFilesOptions } from './kubeconfig-files.ts';
import { kubeconfig } from './testing/management.ts';
import { Recorder } from './testing/recorder.ts';

async function folder(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'hangar-kubeconfigs-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

/** Records the configurations by cluster name; opening a cluster fails. */
function world(path: string, options: Partial<KubeconfigFilesOptions> = {}) {
  const configs = new Map<string, ClusterConfig>();
  const connect = (config: ClusterConfig, name: string): never => {
    configs.set(name, config);
    throw new Error('nobody there');
  };
  return { configs, recorder: new Recorder(kubeconfigFiles({ path, clusterOptions: { connect }, ...options })) };
}

const two = JSON.stringify({
  ...JSON.parse(kubeconfig('https://a')),
  contexts: ['x', 'y'].map((name) => ({ name, context: { cluster: 'c', user: 'u' } })),
});

describe('a folder of kubeconfigs', () => {
  test('is read, and followed as files come, change and go', async () => {
    await using dir = await folder();
    await writeFile(join(dir.path, 'a.yaml'), kubeconfig('https://a'));
    await writeFile(join(dir.path, '.hidden'), kubeconfig('https://hidden'));
    await mkdir(join(dir.path, 'folder'));
    const { recorder } = world(dir.path);
    await using _ = recorder;
    await recorder.untilTold('synced');
    assert.deepEqual(recorder.log, ['+a', 'synced']);
    await writeFile(join(dir.path, 'b.yaml'), kubeconfig('https://b'));
    await recorder.untilNames('a', 'b');
    await writeFile(join(dir.path, 'b.yaml'), kubeconfig('https://b2'));
    await recorder.untilTold('*b');
    await rm(join(dir.path, 'a.yaml'));
    await recorder.untilNames('b');
    await recorder.stop();
  });

  test('is followed through the swaps of a mounted secret', async () => {
    await using dir = await folder();
    const at = (...parts: string[]) => join(dir.path, ...parts);
    const swap = async (version: string, files: Record<string, string>): Promise<void> => {
      await mkdir(at(version));
      for (const [name, text] of Object.entries(files)) await writeFile(at(version, name), text);
      await symlink(version, at('..tmp'));
      await rename(at('..tmp'), at('..data'));
    };
    await swap('..1', { a: kubeconfig('https://a'), b: kubeconfig('https://b') });
    for (const name of ['a', 'b']) await symlink(join('..data', name), at(name));
    const [whole, one] = [world(dir.path), world(at('a'))];
    await using both = new AsyncDisposableStack();
    both.use(whole.recorder);
    both.use(one.recorder);
    await whole.recorder.untilNames('a', 'b');
    await one.recorder.untilNames('x');
    await swap('..2', { a: kubeconfig('https://a2'), b: kubeconfig('https://b') });
    await whole.recorder.untilTold('*a');
    await one.recorder.untilTold('*x');
    assert.ok(!whole.recorder.log.includes('*b'));
  });

  test('may come later, go, and come again', async () => {
    await using dir = await folder();
    const path = join(dir.path, 'later');
    const { recorder } = world(path);
    await using _ = recorder;
    await recorder.untilTold('synced');
    await mkdir(path);
    await writeFile(join(path, 'a'), kubeconfig('https://a'));
    await recorder.untilNames('a');
    await rm(path, { recursive: true });
    await recorder.untilNames();
    await mkdir(path);
    await writeFile(join(path, 'a'), kubeconfig('https://a'));
    await recorder.untilNames('a');
  });

  test('is read again now and then, for changes that nobody told of', async () => {
    await using dir = await folder();
    await using elsewhere = await folder();
    await writeFile(join(elsewhere.path, 'config'), kubeconfig('https://a'));
    await symlink(join(elsewhere.path, 'config'), join(dir.path, 'a'));
    const { recorder } = world(dir.path, { rescanMs: 20 });
    await using _ = recorder;
    await recorder.untilNames('a');
    await writeFile(join(elsewhere.path, 'config'), kubeconfig('https://b'));
    await recorder.untilTold('*a');
  });

  test('has clusters for contexts, if they are asked for', async () => {
    await using dir = await folder();
    await writeFile(join(dir.path, 'a.yaml'), two);
    await using all = world(dir.path, { contexts: 'all' }).recorder;
    await all.untilNames('a+x', 'a+y');
    await using some = world(dir.path, { contexts: ['y', 'z'] }).recorder;
    await some.untilNames('a+y');
  });

  test('with something that is no kubeconfig says so, and goes on', async () => {
    await using dir = await folder();
    await writeFile(join(dir.path, 'bad'), '{]');
    await writeFile(join(dir.path, 'binary'), Buffer.from([0, 255, 254]));
    await writeFile(join(dir.path, 'good'), kubeconfig('https://a'));
    const { recorder } = world(dir.path);
    await using _ = recorder;
    await recorder.untilNames('bad', 'binary', 'good');
    for (const name of ['bad', 'binary']) {
      const opening = recorder.clusters.get(name)!.open(new AbortController().signal);
      await assert.rejects(opening, { code: 'Terminal' }, name);
    }
  });
});

describe('a kubeconfig file', () => {
  test('has clusters that are called as its contexts', async () => {
    await using dir = await folder();
    const path = join(dir.path, 'config');
    await writeFile(path, two);
    await using current = world(path).recorder;
    await current.untilNames('x');
    await using all = world(path, { contexts: 'all' }).recorder;
    await all.untilNames('x', 'y');
    await writeFile(path, JSON.stringify({ ...JSON.parse(two), 'current-context': 'y' }));
    await current.untilNames('y');
  });

  test('may name other files, relative to itself, unless it is not trusted', async () => {
    await using dir = await folder();
    const path = join(dir.path, 'config');
    await writeFile(join(dir.path, 'token'), 'from-a-file');
    await writeFile(path, kubeconfig('https://a', { tokenFile: 'token' }));
    const signal = new AbortController().signal;
    const trusted = world(path);
    await using _ = trusted.recorder;
    await trusted.recorder.untilNames('x');
    await assert.rejects(trusted.recorder.clusters.get('x')!.open(signal), /nobody there/);
    const headers = await trusted.configs.get('x')!.credentials!.headers();
    assert.deepEqual(headers, { authorization: 'Bearer from-a-file' });
    await using foreign = world(path, { isTrusted: false }).recorder;
    await foreign.untilTold('synced');
    for (const cluster of foreign.clusters.values()) await assert.rejects(cluster.open(signal), { code: 'Terminal' });
    assert.equal(foreign.clusters.size, 1);
  });

  test('is let go of with the signal, whenever that is', async () => {
    await using dir = await folder();
    const path = join(dir.path, 'config');
    await writeFile(path, two);
    const handles = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'FSEventWrap').length;
    const before = handles();
    for (const turns of [0, 1, 2, 5, 20]) {
      const { recorder } = world(path);
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      await recorder.stop();
    }
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(handles(), before);
  });
});
