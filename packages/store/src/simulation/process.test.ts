import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler, VirtualDisk } from '@hangar/core/simulation';
import { Process } from './process.ts';

function world(diskErrorRate = 0) {
  const clock = new Scheduler(seededRandom(1));
  const disk = new VirtualDisk({ clock, random: seededRandom(2), latencyMaxMs: 0 });
  const process = new Process({ clock, disk, random: seededRandom(3), diskLatencyMaxMs: 4, diskErrorRate });
  return { clock, disk, process };
}

test('the timers of a dead process never fire', async () => {
  const { clock, process } = world();
  const fired: string[] = [];
  process.clock.after(10, () => fired.push('before'));
  process.clock.after(30, () => fired.push('after'));
  clock.after(20, () => process.kill());
  await clock.advance(100);
  process.clock.soon(() => fired.push('from the grave'));
  await clock.advance(100);
  assert.deepEqual(fired, ['before']);
});

test('a disk call of a process that dies meanwhile neither returns nor changes anything', async () => {
  const { clock, disk, process } = world();
  const file = await clock.run(process.disk.open('/data/file', { create: true }));
  let returned = false;
  void file.write(0, Buffer.from('too late')).then(() => (returned = true));
  process.kill();
  await clock.advance(100);
  assert.equal(returned, false);
  assert.equal(disk.peek('/data/file')?.length, 0);
});

test('a process dies in the middle of the chosen disk call, before or after its effect', async () => {
  const sizes = new Set<number | undefined>();
  for (let seed = 0; seed < 20; seed++) {
    const clock = new Scheduler(seededRandom(seed));
    const disk = new VirtualDisk({ clock, random: seededRandom(seed), latencyMaxMs: 0 });
    const random = seededRandom(seed);
    const process = new Process({ clock, disk, random, diskLatencyMaxMs: 4, diskErrorRate: 0 });
    process.dieAtCall = 2;
    const file = await clock.run(process.disk.open('/data/file', { create: true }));
    void file.write(0, Buffer.from('perhaps'));
    await clock.run(process.died);
    await clock.advance(100);
    sizes.add(disk.peek('/data/file')?.length);
  }
  assert.deepEqual([...sizes].sort(), [0, 7]);
});

test('a disk that breaks fails every call from then on', async () => {
  const { clock, process } = world();
  process.diskBreaksAtCall = 2;
  const file = await clock.run(process.disk.open('/data/file', { create: true }));
  for (const call of [() => file.sync(), () => file.size(), () => process.disk.syncDirectory('/data')]) {
    await assert.rejects(clock.run<unknown>(call()), { code: 'EIO' });
  }
});
