/** The messages of a real etcd whose data is deleted or damaged are recognized, and those of other faults are not. */

import assert from 'node:assert/strict';
import { openSync, readdirSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openEtcdStore } from '@hangar/store/etcd';
import { dataLossIn } from '../../operators/hosted/src/etcd/data-loss.ts';
import type { DataLoss } from '../../operators/hosted/src/etcd/data-loss.ts';
import type { EtcdMember } from '../../packages/store/src/drivers/etcd/testing/etcd-member.ts';
import { startEtcd } from '../../packages/store/src/drivers/etcd/testing/etcd-process.ts';

/** A kubelet keeps the last part of a log. */
const messageLengthMax = 2_048;

const overwrite = (file: string, position: number, length: number): void => {
  writeSync(openSync(file, 'r+'), Buffer.alloc(length, 0x5a), 0, length, position);
};
const firstWal = (member: string): string =>
  join(
    member,
    'wal',
    readdirSync(join(member, 'wal'))
      .filter((one) => one.endsWith('.wal'))
      .toSorted()[0]!,
  );
const database = (member: string): string => join(member, 'snap', 'db');

/** `member`: the folder with the data. */
const damages: Readonly<Record<string, readonly [DataLoss, (member: string) => void]>> = {
  'no data': ['Wiped', (member) => rmSync(member, { recursive: true })],
  'no log': ['Wiped', (member) => rmSync(join(member, 'wal'), { recursive: true })],
  'a damaged log': ['Corrupt', (member) => overwrite(firstWal(member), 300, 512)],
  'no database': ['Corrupt', (member) => rmSync(database(member))],
  'a short database': ['Corrupt', (member) => truncateSync(database(member), 100)],
  'a damaged head of the database': ['Corrupt', (member) => overwrite(database(member), 0, 16_384)],
  'damaged pages of the database': [
    'Corrupt',
    (member) => overwrite(database(member), 8_192, statSync(database(member)).size - 8_192),
  ],
};

/** Starts a member until it exits, and returns the end of its log. */
async function crash(member: EtcdMember): Promise<string> {
  try {
    await member.start();
  } catch (error) {
    return String(error).slice(-messageLengthMax);
  }
  throw new Error('the member started');
}

describe('a member', () => {
  for (const [name, [loss, damage]] of Object.entries(damages)) {
    test(`with ${name} is recognized`, async () => {
      const etcd = await startEtcd({ members: 3, unsafeNoFsync: true, args: ['--snapshot-count=10'] });
      try {
        const store = await openEtcdStore({ endpoints: etcd.endpoints });
        for (let at = 0; at < 60; at++) {
          await store.commit([{ type: 'put', key: `/key-${at}`, value: Buffer.alloc(2_000, at) }]);
        }
        await store.close();
        const [member] = etcd.members;
        await member!.kill();
        damage(join(etcd.folder, member!.name, 'member'));
        const log = await crash(member!);
        assert.equal(dataLossIn(log), loss, log);
      } finally {
        await etcd.stop();
      }
    });
  }

  test('with a wrong argument or a port in use has not lost its data', () => {
    const others = [
      'listen tcp 127.0.0.1:2379: bind: address already in use',
      'error verifying flags, expected IP in URL for binding. See etcd --help.',
      'open /etc/kubernetes/pki/server.crt: no such file or directory',
      'failed to open database: permission denied',
      'wal: failed to write: no space left on device',
    ];
    for (const log of others) assert.equal(dataLossIn(log), undefined, log);
  });
});
