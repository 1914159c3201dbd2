/** A pod whose program comes from an image archive: a static busybox with links to it. */

import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigMap, Pod } from '@hangar/client/kinds/core-v1';
import { Logger, systemClock } from '@hangar/core';
import { imagesIn, startProcessRuntime } from '@hangar/process-runtime';
import { startTestCluster } from '@hangar/testkit';
import { tool } from '../../tools/tool.ts';
import { writeArchive } from '../nodes/images/archive.ts';
import { until } from './testing/until.ts';

const image = 'registry.example/busybox:1';

for (const mounts of [undefined, 'rewrite'] as const) {
  test(`an image archive is unpacked and run (${mounts ?? 'the detected way of mounting'})`, async () => {
    const busybox = await tool('busybox', { log: console.log });
    const folder = await mkdtemp(join(tmpdir(), 'hangar-images-'));
    await using cleanup = new AsyncDisposableStack();
    cleanup.defer(() => rm(folder, { recursive: true, force: true }));
    await mkdir(join(folder, 'images'));
    await writeArchive(join(folder, 'images/busybox.tar'), {
      name: image,
      process: { Entrypoint: ['/bin/sh', '-c'], Env: ['PATH=/bin', 'GREETING=hello'] },
      fill: async (root) => {
        await mkdir(join(root, 'bin'));
        await cp(busybox, join(root, 'bin/busybox'));
        await symlink('/bin/busybox', join(root, 'bin/sh'));
      },
    });
    const cluster = cleanup.use(await startTestCluster());
    const runtime = await startProcessRuntime({
      client: cluster.client,
      nodeName: 'local',
      folder: join(folder, 'node'),
      images: [imagesIn({ folder: join(folder, 'images'), cacheFolder: join(folder, 'cache') })],
      log: new Logger({ level: 'silent', format: 'text', clock: systemClock }),
      mounts,
    });
    cleanup.defer(() => runtime.close({ pods: 'stop' }));
    await cluster.client.create(ConfigMap, {
      metadata: { namespace: 'default', name: 'words' },
      data: { word: 'world' },
    });
    await cluster.client.create(Pod, {
      metadata: { namespace: 'default', name: 'greets' },
      spec: {
        nodeName: 'local',
        restartPolicy: 'Never',
        automountServiceAccountToken: false,
        volumes: [{ name: 'words', configMap: { name: 'words' } }],
        containers: [
          {
            name: 'main',
            image,
            args: ['read -r word < /words/word || :; echo "$GREETING $word" >&2; exit 3'],
            volumeMounts: [{ name: 'words', mountPath: '/words' }],
            terminationMessagePolicy: 'FallbackToLogsOnError',
          },
        ],
      },
    });
    const ended = await until('the end of the container', async () => {
      const { status } = await cluster.client.get(Pod, { namespace: 'default', name: 'greets' });
      return status?.containerStatuses?.[0]?.state?.terminated;
    });
    assert.deepEqual([ended.exitCode, ended.message], [3, 'hello world\n']);
  });
}
