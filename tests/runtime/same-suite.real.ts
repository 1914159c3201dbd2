/**
 * The same operators on the real kube-apiserver with etcd and on Hangar with its embedded store, each a separate process, over TLS by their
 * kubeconfigs. Webhooks, caches under faults, kubeconfigs and discovery have suites of this kind beside their code (`packages/**` +
 * `/*.real.ts`), examples have theirs in `tests/examples`.
 */

import { after, before, describe, test } from 'node:test';
import { startHangar, startReal } from '../conformance/servers/index.ts';
import type { RestartableControlPlane } from '../conformance/servers/index.ts';
import { failing } from './cases/failing.ts';
import { living } from './cases/living.ts';
import { reading } from './cases/reading.ts';
import { reconciling } from './cases/reconciling.ts';
import { writing } from './cases/writing.ts';
import { Ground } from './testing/ground.ts';

const servers: Record<string, () => Promise<RestartableControlPlane>> = {
  'kube-apiserver': () => startReal({ extraArguments: ['--authorization-mode=RBAC'] }),
  Hangar: () => startHangar(),
};

const timeout = 90_000;

for (const [name, start] of Object.entries(servers)) {
  describe(name, () => {
    let ground: Ground;
    before(async () => (ground = await Ground.open(await start())));
    after(() => ground?.[Symbol.asyncDispose]());
    for (const one of [...reconciling, ...writing, ...reading, ...living, ...failing]) {
      test(one.name, { timeout }, () => one.run(ground));
    }
  });
}
