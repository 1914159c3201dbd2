/** Real kubectl with the kubeconfig of a tenant, whose certificate TLS itself cannot verify. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '@hangar/core';
import { createAuthority } from '@hangar/pki';
import { openMemoryStore } from '@hangar/store';
import { tool } from '../../../../../tools/tool.ts';
import { serving, TestPort, world } from '../../http/testing/test-port.ts';
import { ApiServer } from '../../server.ts';
import { newTokenKey } from '../../testing/authentication.ts';
import { openTestPlane } from '../../testing/open-server.ts';
import { advertisedTenantAuthority, tenantAuthorityName } from './advertised-authority.ts';
import { tenantAuthentication } from './authentication.ts';
import type { TenantKeys } from './keys.ts';
import { issueKubeconfig } from './kubeconfig.ts';

const run = promisify(execFile);

const newKeys = (): TenantKeys => ({
  authority: createAuthority(tenantAuthorityName, 10, world),
  frontProxyAuthority: createAuthority('front-proxy', 10, world),
  serviceAccountKey: newTokenKey(),
});

for (const advertisedCas of [advertisedTenantAuthority, undefined]) {
  test(`kubectl is who its tenant says it is, ${advertisedCas ? 'asked by name' : 'not asked for it'}`, async () => {
    await using opened = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'hangar-'));
    opened.defer(() => rm(folder, { recursive: true, force: true }));
    const store = await openMemoryStore();
    opened.defer(() => store.close());
    const { plane, close } = await openTestPlane(store);
    opened.defer(close);
    const [own, other] = [newKeys(), newKeys()];
    const server = new ApiServer({
      plane,
      ...tenantAuthentication({ plane, keys: own, issuer: 'https://a.example.com', clock: systemClock }),
      authorizers: [{ authorize: () => 'allow' }],
      health: { livez: [], readyz: [] },
      address: () => '127.0.0.1',
      onError: (error) => assert.fail(error),
    });
    const port = opened.use(
      await TestPort.open((request) => server.handle(request), {
        clientCas: createAuthority('hangar-ca', 1, world).certificate,
        ...(advertisedCas === undefined ? {} : { advertisedCas }),
      }),
    );
    const kubectl = async (keys: TenantKeys, ...words: string[]): Promise<string> => {
      const kubeconfig = join(folder, 'kubeconfig');
      const url = `https://127.0.0.1:${port.listener.port}`;
      const text = await issueKubeconfig({
        keys,
        server: url,
        servingCa: serving.certificate,
        path: 'a',
        seconds: 600,
        ...world,
      });
      await writeFile(kubeconfig, text);
      const environment = { ...process.env, KUBECONFIG: kubeconfig, HOME: folder };
      const answer = await run(await tool('kubectl'), words, { env: environment, timeout: 30_000 }).catch(
        (error: { stderr: string }) => ({ stdout: error.stderr }),
      );
      return answer.stdout;
    };
    const whoAmI = await kubectl(own, 'auth', 'whoami');
    assert.match(whoAmI, /Username +admin/);
    assert.match(whoAmI, /Groups +\[system:masters system:authenticated\]/);
    assert.match(await kubectl(own, 'get', 'namespaces'), /^default /m);
    assert.match(await kubectl(other, 'get', 'namespaces'), /must be logged in|Unauthorized/);
  });
}
