/** The Job that makes the Secret of all replicas, run with its own arguments and its own rights on a real kube-apiserver. */

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { template } from '../../scripts/generate/manifests/render.ts';
import { run } from '../../tools/run.ts';
import { tool } from '../../tools/tool.ts';
import { startReal } from '../conformance/servers/index.ts';
import type { ControlPlane } from '../conformance/servers/index.ts';
import { objectsOf, podTemplates, root } from './testing/files.ts';

const namespace = '--namespace=hangar-system';

describe('the Job of the chart', () => {
  let folder: string;
  let plane: ControlPlane;
  let args: string[];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hangar-pki-job-'));
    plane = await startReal({ extraArguments: ['--authorization-mode=RBAC'] });
    const rendered = await template('hangar', '--show-only=templates/pki.yaml');
    await writeFile(join(folder, 'pki.yaml'), rendered);
    await kubectl('create', 'namespace', 'hangar-system');
    await kubectl('apply', '--server-side', `--filename=${folder}/pki.yaml`);
    const pod = podTemplates(objectsOf(rendered))[0]!;
    args = pod.spec.containers[0].args;
    const token = await kubectl('create', 'token', pod.spec.serviceAccountName, namespace);
    const view = JSON.parse(await kubectl('config', 'view', '--raw', '--flatten', '--output=json'));
    view.users = view.users.map(({ name }: { name: string }) => ({ name, user: { token: token.trim() } }));
    await writeFile(join(folder, 'job.kubeconfig'), JSON.stringify(view), { mode: 0o600 });
  });
  after(async () => {
    await plane?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function kubectl(...words: readonly string[]): Promise<string> {
    const all = [...words, `--kubeconfig=${plane.kubeconfig}`];
    const { stdout, stderr, failure } = await run(await tool('kubectl'), all, { timeoutMs: 60_000 });
    assert.equal(failure, undefined, `kubectl ${words.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  }
  const job = (...more: readonly string[]) =>
    run(process.execPath, [join(root, 'bin/hangar.js'), ...args, `--kubeconfig=${folder}/job.kubeconfig`, ...more], {
      timeoutMs: 30_000,
    });
  const secret = (): Promise<string> => kubectl('get', 'secret', 'hangar-pki', namespace, '--output=jsonpath={.data}');

  test('makes the Secret once, with which servers start, and leaves it alone from then on', async () => {
    const first = await job();
    assert.deepEqual(
      [first.failure, first.stdout],
      [undefined, 'secret hangar-system/hangar-pki created\n'],
      first.stderr,
    );
    const made = await secret();
    const again = await job();
    assert.deepEqual(
      [again.failure, again.stdout],
      [undefined, 'secret hangar-system/hangar-pki unchanged: it already exists\n'],
    );
    assert.equal(await secret(), made);
    // Mounted, it is a folder that lacks nothing.
    const files = Object.entries(JSON.parse(made) as Record<string, string>);
    for (const [name, text] of files) await writeFile(join(folder, name), Buffer.from(text, 'base64'));
    const init = await run(process.execPath, [join(root, 'bin/hangar.js'), 'pki', 'init', folder], {
      timeoutMs: 30_000,
    });
    assert.match(init.stdout, /already has all CAs and keys/, init.stderr);
  });

  test('fails with a line that says why where it has no rights, so that it is tried again', async () => {
    const { failure, stderr } = await job('--namespace=kube-system');
    assert.equal(failure, 'exit code 1');
    assert.match(stderr, /^hangar: secret kube-system\/hangar-pki: .*cannot create resource "secrets"/);
    assert.doesNotMatch(stderr, /\n {4}at /);
  });

  test('cannot read what it made', async () => {
    const words = ['get', 'secret', 'hangar-pki', namespace, `--kubeconfig=${folder}/job.kubeconfig`];
    const { stderr } = await run(await tool('kubectl'), words, { timeoutMs: 30_000 });
    assert.match(stderr, /cannot get resource "secrets"/);
  });
});
