/** Every rendered argument is one that the real programs have. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { tool } from '../../../../tools/tool.ts';
import { renderAll, renderings } from './index.ts';
import { objectIn, plane } from './testing/planes.ts';

const run = promisify(execFile);
const of = plane({
  controlPlaneEndpoint: { host: '192.0.2.1', port: 443 },
  deployment: {
    apiServer: {
      audit: { policy: { rules: [{ level: 'None' }] }, webhook: { targets: [{ server: 'https://a.example.com' }] } },
    },
  },
  konnectivityClient: {},
  oidcProviders: { 'https://a.example.com': { audiences: ['a'], claimMappings: { username: 'claims.sub' } } },
});
const all = renderAll(renderings.get('1')!, of, {});

for (const [name, kind, program] of [
  ['demo-etcd', 'StatefulSet', 'etcd'],
  ['demo-apiserver', 'Deployment', 'kube-apiserver'],
  ['demo-apiserver', 'Deployment', 'konnectivity-server'],
  ['demo-controller-manager', 'Deployment', 'kube-controller-manager'],
  ['demo-scheduler', 'Deployment', 'kube-scheduler'],
] as const) {
  test(`${program} has every argument`, async () => {
    const { stdout, stderr } = await run(await tool(program), ['--help'], { maxBuffer: 16 * 1024 * 1024 });
    const known = new Set(Array.from((stdout + stderr).matchAll(/^\s*(?:-\w, )?--([a-z0-9-]+)/gm), ([, flag]) => flag));
    const { template } = objectIn<Deployment | StatefulSet>(all, kind, name).spec!;
    const container = template.spec!.containers.find((one) => one.name === program)!;
    const args = container.args!.map((argument) => /^--([^=]+)=/.exec(argument)![1]!);
    assert.ok(args.length >= 5);
    assert.deepEqual(
      args.filter((argument) => !known.has(argument)),
      [],
    );
  });
}
