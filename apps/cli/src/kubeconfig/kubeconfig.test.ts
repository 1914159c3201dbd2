import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parseYaml } from '@hangar/api/yaml';
import { systemClock } from '@hangar/core';
import { kubeconfigText } from '../testing/plain-operator.ts';
import { readAccess } from './access.ts';
import { mergedKubeconfig } from './merge.ts';
import type { MergeOptions } from './merge.ts';
import { writeSecretFile, writeSecretFileBy } from './secret-file.ts';
import { changeUserKubeconfig, userKubeconfig } from './user-file.ts';

const server = 'https://127.0.0.1:6443/clusters/demo/control-plane';
const access = readAccess(kubeconfigText(server), 'a test');
const options = { controlPlane: 'demo', access, isCurrent: true };

const merge = (where: ReturnType<typeof place>, wanted: MergeOptions) =>
  changeUserKubeconfig(where, (before) => mergedKubeconfig(before, wanted));

interface Config {
  [field: string]: unknown;
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-kubeconfig-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const place = (folder: string, env: NodeJS.ProcessEnv = {}) => ({
  env,
  homeFolder: folder,
  folder,
  clock: { ...systemClock, after: (_ms: number, callback: () => void) => systemClock.after(0, callback) },
  signal: new AbortController().signal,
});

describe('a kubeconfig from a server', () => {
  test('comes down to where, whom to trust, and who', () => {
    assert.deepEqual(access, {
      cluster: { server, 'certificate-authority-data': 'Y2E=' },
      user: { token: 'secret-of-admin' },
    });
  });

  for (const [what, text] of [
    ['runs a program', kubeconfigText(server, 'exec: {command: /bin/sh}')],
    ['has a plugin', kubeconfigText(server, 'auth-provider: {name: x}')],
    ['reads a file', kubeconfigText(server, 'tokenFile: /etc/shadow')],
    ['names a key file', kubeconfigText(server, 'client-key: /etc/shadow')],
    ['acts as somebody', kubeconfigText(server, 'as: root')],
    ['sends secrets in the open', kubeconfigText('http://example.com')],
    ['has a password in its address', kubeconfigText('https://a:b@example.com')],
    ['has an address that is none', kubeconfigText('javascript:1')],
    ['goes through a proxy', kubeconfigText(server).replace('{server:', "{proxy-url: 'http://x', server:")],
    ['trusts everybody', kubeconfigText(server).replace('{server:', '{insecure-skip-tls-verify: true, server:')],
    ['has no context', 'apiVersion: v1\nkind: Config\n'],
    ['is a list', '- 1\n'],
    ['is no YAML', '{{{'],
    ['is nothing', ''],
    ['is endless', 'a'.repeat(2_000_000)],
  ] as const) {
    test(`that ${what} is refused`, () => {
      assert.throws(() => readAccess(text, 'Secret a/b'), {
        code: 'Failed',
        message: /^the kubeconfig in Secret a\/b /,
      });
    });
  }
});

describe('merging', () => {
  test('keeps everything that is not of it, known or not', () => {
    const before = {
      apiVersion: 'v1',
      kind: 'Config',
      preferences: { colors: true },
      extensions: [{ name: 'x', extension: { deep: [1, { a: null }] } }],
      clusters: [{ name: 'mine', cluster: { server: 'https://mine', odd: 1 } }, 'not even an object'],
      users: null,
      contexts: [{ name: 'mine', context: { cluster: 'mine', user: 'me' } }],
      'current-context': 'mine',
      later: 'something',
    };
    const after = mergedKubeconfig(before, { ...options, isCurrent: false }) as Config;
    const { clusters, users, contexts, ...rest } = after;
    const { clusters: _c, users: _u, contexts: _x, ...restBefore } = before;
    assert.deepEqual(rest, restBefore);
    assert.deepEqual((clusters as unknown[]).slice(0, 2), before.clusters);
    assert.deepEqual(users, [{ name: 'hangar-demo', user: access.user }]);
    assert.equal((contexts as unknown[]).length, 2);
  });

  test('replaces what was of it, in its place, and keeps the namespace that its user chose', () => {
    const once = mergedKubeconfig(undefined, options) as { contexts: { context: object }[]; users: object[] };
    once.contexts[0]!.context = { ...once.contexts[0]!.context, namespace: 'mine', extensions: [] };
    once.users = [{ name: 'hangar-demo', user: { exec: { command: 'x' } } }, { name: 'hangar-demo' }, { name: 'z' }];
    const twice = mergedKubeconfig(once, options) as Config;
    assert.deepEqual(twice['contexts'], [
      {
        name: 'hangar-demo',
        context: { cluster: 'hangar-demo', user: 'hangar-demo', namespace: 'mine', extensions: [] },
      },
    ]);
    assert.deepEqual(twice['users'], [{ name: 'hangar-demo', user: access.user }, { name: 'z' }]);
    assert.equal(twice['current-context'], 'hangar-demo');
  });

  for (const odd of [[], 'text', { kind: 'Pod' }, { apiVersion: 'v2' }, { clusters: {} }, { users: 'x' }]) {
    test(`refuses ${JSON.stringify(odd)}`, () => {
      assert.throws(() => mergedKubeconfig(odd, options), { code: 'InvalidKubeconfig' });
    });
  }
});

describe("the user's kubeconfig", () => {
  test('is the first of KUBECONFIG, else the one at home', () => {
    assert.equal(userKubeconfig(place('/home/me')), '/home/me/.kube/config');
    assert.equal(userKubeconfig(place('/home/me', { KUBECONFIG: ':a:b' })), '/home/me/a');
    assert.equal(userKubeconfig(place('/home/me', { KUBECONFIG: '' })), '/home/me/.kube/config');
  });

  test('is made when there is none, for its owner alone', () =>
    inFolder(async (folder) => {
      const { path, hasLostComments } = await merge(place(folder), options);
      assert.equal(path, join(folder, '.kube', 'config'));
      assert.equal(hasLostComments, false);
      assert.equal((await stat(path)).mode & 0o777, 0o600);
      assert.deepEqual(await readdir(join(folder, '.kube')), ['config'], 'neither lock nor part is left');
      const written = await stat(path);
      await merge(place(folder), options);
      assert.equal((await stat(path)).ino, written.ino, 'nothing changed, so nothing was written');
    }));

  test('is written where a link leads, with texts that look like something else as they were', () =>
    inFolder(async (folder) => {
      const odd = ['no', 'y', '0o17', '1_000', '1e3', '2001-01-01', '~', '<<', '', '1:30', 'a: b', '\u0007'];
      await writeFile(join(folder, 'real'), `# mine\nextensions: ${JSON.stringify(odd)}\n`);
      await symlink(join(folder, 'real'), join(folder, 'link'));
      const { hasLostComments } = await merge(place(folder, { KUBECONFIG: 'link' }), options);
      assert.equal(hasLostComments, true);
      const config = parseYaml(await readFile(join(folder, 'real'), 'utf8')).value as Config;
      assert.deepEqual(config['extensions'], odd);
      assert.equal((await stat(join(folder, 'real'))).mode & 0o777, 0o600);
    }));

  for (const [what, text] of [
    ['is no YAML', '{{{ token: secret'],
    ['has two documents', 'kind: Config\n---\nkind: Config\n'],
    ['has a key twice', 'kind: Config\nusers: []\nusers: [{name: a}]\n'],
    ['is something else', 'kind: Pod\n'],
  ] as const) {
    test(`is left as it is when it ${what}`, () =>
      inFolder(async (folder) => {
        const path = join(folder, 'config');
        await writeFile(path, text);
        await assert.rejects(merge(place(folder, { KUBECONFIG: path }), options), (error: Error) => {
          assert.match(error.message, /was not changed/);
          assert.doesNotMatch(error.message, /secret/);
          return true;
        });
        assert.equal(await readFile(path, 'utf8'), text);
        assert.deepEqual(await readdir(folder), ['config']);
      }));
  }

  test('waits for whoever holds the lock, and not for ever', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'config');
      await writeFile(`${path}.lock`, '');
      await assert.rejects(merge(place(folder, { KUBECONFIG: path }), options), {
        code: 'Failed',
        message: /is locked by another process/,
      });
      assert.deepEqual(await readdir(folder), ['config.lock'], "another's lock is not taken away");
    }));

  test('has all of those who merge at the same time', () =>
    inFolder(async (folder) => {
      const names = Array.from({ length: 8 }, (_, at) => `plane-${at}`);
      const slow = { ...place(folder), clock: systemClock };
      await Promise.all(names.map((controlPlane) => merge(slow, { ...options, controlPlane })));
      const config = parseYaml(await readFile(join(folder, '.kube', 'config'), 'utf8')).value as { users: object[] };
      assert.equal(config.users.length, names.length);
    }));
});

describe('a secret file', () => {
  test('is replaced as a whole, or stays as it was', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'file');
      await writeFile(path, 'old', { mode: 0o644 });
      await assert.rejects(
        writeSecretFileBy(path, async (file) => {
          await file.write('half');
          throw new Error('broken off');
        }),
        /broken off/,
      );
      assert.equal(await readFile(path, 'utf8'), 'old');
      await writeSecretFile(path, 'new');
      assert.equal(await readFile(path, 'utf8'), 'new');
      assert.equal((await stat(path)).mode & 0o777, 0o600);
      assert.deepEqual(await readdir(folder), ['file']);
    }));

  test('is never a device or a directory', () =>
    inFolder(async (folder) => {
      await writeSecretFile('/dev/null', 'gone');
      assert.ok((await stat('/dev/null')).isCharacterDevice());
      await mkdir(join(folder, 'directory'));
      await assert.rejects(writeSecretFile(join(folder, 'directory'), ''), { message: /is a directory/ });
      await assert.rejects(writeSecretFile(join(folder, 'no', 'such', 'file'), ''), { message: /cannot be written/ });
    }));
});
