/** Watches that expire (410), on the two servers whose history can be compacted externally: both keep it in an etcd. */

import { after, before, describe, test } from 'node:test';
import { careless, etcdArguments, etcdUrl } from '@hangar/api/testing';
import { tool } from '../../tools/tool.ts';
import { startHangar, startReal } from '../conformance/servers/index.ts';
import { freePorts } from '../../tools/free-ports.ts';
import { Processes } from '../conformance/servers/processes.ts';
import { forgetting } from './cases/forgetting.ts';
import { Ground } from './testing/ground.ts';

async function realGround(): Promise<Ground> {
  const plane = await startReal({ extraArguments: ['--authorization-mode=RBAC'] });
  return Ground.open(plane, plane.etcdUrl);
}

/** With its own etcd, which stops with it. */
const hangarGround = (): Promise<Ground> =>
  Processes.start('etcd', async (processes) => {
    const [clientPort, peerPort] = await freePorts(2);
    const place = { folder: processes.folder, clientPort: clientPort!, peerPort: peerPort! };
    processes.run(await tool('etcd'), [...etcdArguments(place), careless]);
    const plane = await startHangar(['--store=etcd', `--etcd-endpoints=${etcdUrl(place)}`]);
    const stop = async (): Promise<void> => {
      await plane.stop();
      await processes.stop();
    };
    return Ground.open({ ...plane, stop, [Symbol.asyncDispose]: stop }, etcdUrl(place));
  });

const timeout = 90_000;

for (const [name, open] of Object.entries({ 'kube-apiserver': realGround, 'Hangar on etcd': hangarGround })) {
  describe(name, () => {
    let ground: Ground;
    before(async () => (ground = await open()));
    after(() => ground?.[Symbol.asyncDispose]());
    for (const one of forgetting) test(one.name, { timeout }, () => one.run(ground));
  });
}
