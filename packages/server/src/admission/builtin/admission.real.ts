import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRealServer } from '@hangar/api/testing';
import type { RealServer } from '@hangar/api/testing';
import { compareServers } from '../../testing/both-servers.ts';
import type { Step } from '../../testing/both-servers.ts';
import { startInProcess } from '../../testing/in-process.ts';
import type { InProcessServer } from '../../testing/in-process.ts';
import { alwaysAllow } from './testing/allow.ts';
import { accounts, accountSetup } from './testing/account-cases.ts';
import { limits, limitSetup } from './testing/limit-cases.ts';
import { nodes, nodeSetup, nodeUser } from './testing/node-cases.ts';
import { podDefaults, podDefaultSetup } from './testing/pod-cases.ts';
import { quotas, quotaSetup } from './testing/quota-cases.ts';
import { storage, storageSetup } from './testing/storage-cases.ts';

const suites: Readonly<Record<string, { readonly setup: readonly Step[]; readonly steps: readonly Step[] }>> = {
  'service accounts': { setup: accountSetup, steps: accounts },
  'limit ranges': { setup: limitSetup, steps: limits },
  'priorities, tolerations, runtime classes and taints': { setup: podDefaultSetup, steps: podDefaults },
  'storage and ingress classes, finalizers and growing claims': { setup: storageSetup, steps: storage },
  'what nodes may write': { setup: nodeSetup, steps: nodes },
  quotas: { setup: quotaSetup, steps: quotas },
};

/** Plugins that are off by default. */
const off = [
  'AlwaysPullImages',
  'DenyServiceExternalIPs',
  'ExtendedResourceToleration',
  'OwnerReferencesPermissionEnforcement',
];

let real: RealServer;
let hangar: InProcessServer;

before(async () => {
  real = await startRealServer(
    ['--disable-admission-plugins=AlwaysDeny', `--enable-admission-plugins=NodeRestriction,${off.join(',')}`],
    [nodeUser],
  );
  hangar = await startInProcess({
    admission: { enabled: off },
    authorizers: [alwaysAllow],
    tokens: [{ ...nodeUser, uid: nodeUser.user }],
  });
  const setup = Object.values(suites).flatMap((suite) => suite.setup);
  assert.deepEqual(await compareServers(real, hangar, setup), []);
  // The plugins of the real server read from caches, which lag behind writes.
  await sleep(1_500);
});

after(async () => {
  await real?.[Symbol.asyncDispose]();
  await hangar?.[Symbol.asyncDispose]();
});

for (const [name, { steps }] of Object.entries(suites)) {
  test(`${name} are as in kube-apiserver`, async () => {
    assert.deepEqual(await compareServers(real, hangar, steps), []);
  });
}
