/** The state after a crash, and the faults that a test can inject. The contract of both disks is tested in `disk.test.ts`. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '../clock.ts';
import { seededRandom } from '../random.ts';
import { Scheduler } from './scheduler.ts';
import { VirtualDisk } from './virtual-disk.ts';

function world(seed: number) {
  const random = seededRandom(seed);
  const scheduler = new Scheduler(random);
  return { scheduler, disk: new VirtualDisk({ clock: scheduler, random }) };
}

type World = ReturnType<typeof world>;

/** Runs the same scenario with many seeds; returns the number of each outcome. */
async function outcomes(story: (world: World) => Promise<string>, seeds = 200): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (let seed = 1; seed <= seeds; seed++) {
    const each = world(seed);
    const outcome = await each.scheduler.run(story(each));
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }
  return counts;
}

async function durableFile({ disk }: World, text: string, path = '/data/a') {
  const file = await disk.open(path, { create: true });
  await file.write(0, Buffer.from(text));
  await file.sync();
  await disk.syncDirectory('/data');
  return file;
}

const content = (disk: VirtualDisk, path = '/data/a') => {
  const bytes = disk.peek(path);
  return bytes ? Buffer.from(bytes).toString() : 'no file';
};

const sorted = (counts: Map<string, number>) => [...counts.keys()].sort();

describe('a crash', () => {
  test('keeps what was synced, for certain', async () => {
    const counts = await outcomes(async (world) => {
      const file = await durableFile(world, 'old');
      await file.write(0, Buffer.from('new'));
      await file.sync();
      world.disk.crash();
      return content(world.disk);
    });
    assert.deepEqual(sorted(counts), ['new']);
  });

  test('keeps or drops what was only written', async () => {
    const counts = await outcomes(async (world) => {
      const file = await durableFile(world, 'old');
      await file.write(0, Buffer.from('new'));
      await file.write(3, Buffer.from('er'));
      assert.equal(content(world.disk), 'newer', 'a read sees it');
      world.disk.crash();
      return content(world.disk);
    });
    assert.deepEqual(sorted(counts), ['new', 'newer', 'old', 'older']);
  });

  test('tears a large write at sectors', async () => {
    const counts = await outcomes(async (world) => {
      const file = await durableFile(world, 'o'.repeat(2048));
      await file.write(0, Buffer.alloc(2048, 'n'));
      world.disk.crash();
      const sectors = content(world.disk).match(/.{512}/gs)!;
      for (const sector of sectors) assert.match(sector, /^(o+|n+)$/, 'a sector is old or new');
      return sectors.map((sector) => sector[0]).join('');
    }, 400);
    assert.ok(counts.has('oooo') && counts.has('nnnn'));
    assert.equal(counts.size, 16, 'every combination comes up');
  });

  test('keeps or undoes a truncation that was not synced', async () => {
    const counts = await outcomes(async (world) => {
      const file = await durableFile(world, 'long content');
      await file.truncate(4);
      world.disk.crash();
      return content(world.disk);
    });
    assert.deepEqual(sorted(counts), ['long', 'long content']);
  });

  test('does not leave a new name that was not synced, nor forget an old one', async () => {
    const counts = await outcomes(async (world) => {
      const { disk } = world;
      await durableFile(world, 'old');
      const file = await disk.open('/data/b', { create: true });
      await file.write(0, Buffer.from('new'));
      await file.sync();
      await disk.rename('/data/b', '/data/a');
      assert.equal(content(disk), 'new');
      disk.crash();
      return content(disk);
    });
    assert.ok(counts.has('old'), 'a rename that was not synced was always kept');
    for (const outcome of counts.keys()) assert.ok(['old', 'new'].includes(outcome), outcome);
  });

  test('keeps a name that was synced', async () => {
    const counts = await outcomes(async (world) => {
      const { disk } = world;
      await durableFile(world, 'old');
      const file = await disk.open('/data/b', { create: true });
      await file.write(0, Buffer.from('new'));
      await file.sync();
      await disk.rename('/data/b', '/data/a');
      await disk.syncDirectory('/data');
      disk.crash();
      return `${content(disk)}, ${content(disk, '/data/b')}`;
    });
    assert.deepEqual(sorted(counts), ['new, no file']);
  });

  test('kills open files', async () => {
    const { scheduler, disk } = world(1);
    await scheduler.run(
      (async () => {
        const file = await disk.open('/data/a', { create: true });
        disk.crash();
        const dead = [
          () => file.read(0, 1),
          () => file.write(0, Buffer.from('x')),
          () => file.sync(),
          () => file.size(),
          () => file.truncate(0),
        ];
        for (const call of dead) await assert.rejects(call, { code: 'EIO' });
      })(),
    );
  });

  test('stops every call that was under way: none takes effect in the world after it', async () => {
    const calls = {
      write: (_disk: VirtualDisk, file: { write(offset: number, bytes: Uint8Array): Promise<void> }) =>
        file.write(0, Buffer.from('late')),
      create: (disk: VirtualDisk) => disk.open('/data/late', { create: true }),
      rename: (disk: VirtualDisk) => disk.rename('/data/b', '/data/a'),
      remove: (disk: VirtualDisk) => disk.remove('/data/a'),
    };
    for (const [name, call] of Object.entries(calls)) {
      const each = world(7);
      const { scheduler, disk } = each;
      await scheduler.run(
        (async () => {
          const file = await durableFile(each, 'a');
          await durableFile(each, 'b', '/data/b');
          const underWay = Promise.resolve(call(disk, file)).catch(() => {});
          disk.crash();
          await underWay;
        })(),
      );
      const after = ['/data/a', '/data/b', '/data/late'].map((path) => content(disk, path));
      assert.deepEqual(after, ['a', 'b', 'no file'], name);
    }
  });

  test('a sync covers what was written before it was called and no more, even beside another sync', async () => {
    const ends = new Set<string>();
    for (let seed = 1; seed <= 50; seed++) {
      const calls: (() => void)[] = [];
      const clock = {
        ...systemClock,
        after: (_delayMs: number, done: () => void) => (calls.push(done), { cancel() {} }),
      };
      const disk = new VirtualDisk({ clock, random: seededRandom(seed) });
      disk.poke('/data/a', Uint8Array.from(Buffer.from('..')));
      const finish = async <T>(call: Promise<T>, place = 0): Promise<T> => {
        calls.splice(place, 1)[0]!();
        return call;
      };
      const file = await finish(disk.open('/data/a'));
      await finish(file.write(0, Buffer.from('1')));
      const syncs = [file.sync(), file.sync()];
      await finish(file.write(1, Buffer.from('2')), 2);
      for (const sync of syncs) await finish(sync);
      disk.crash();
      ends.add(content(disk));
    }
    assert.deepEqual([...ends].sort(), ['1.', '12'], 'the second write was never synced: it may be lost');
  });
});

describe('ordered faults', () => {
  test('the nth call fails, once, and does nothing', async () => {
    const { scheduler, disk } = world(1);
    await scheduler.run(
      (async () => {
        const file = await disk.open('/data/a', { create: true });
        assert.equal(disk.calls, 1);
        disk.failCall(3, 'EIO');
        await file.write(0, Buffer.from('1'));
        await assert.rejects(file.write(0, Buffer.from('2')), { code: 'EIO', path: '/data/a' });
        assert.equal(content(disk), '1');
        await file.write(0, Buffer.from('3'));
        assert.equal(content(disk), '3');
        assert.equal(disk.calls, 4);
      })(),
    );
  });

  test('a full disk refuses what would make it grow, and nothing else', async () => {
    const each = world(1);
    const { scheduler, disk } = each;
    await scheduler.run(
      (async () => {
        const file = await durableFile(each, '12345');
        disk.capacityBytes = 7;
        await file.write(3, Buffer.from('xx'));
        await assert.rejects(file.write(3, Buffer.from('toolong')), { code: 'ENOSPC' });
        assert.equal(content(disk), '123xx');
        await file.write(5, Buffer.from('67'));
        await file.truncate(2);
        await file.write(2, Buffer.from('again'));
        await file.sync();
        disk.capacityBytes = Infinity;
        await file.write(7, Buffer.from('!'));
        assert.equal(content(disk), '12again!');
      })(),
    );
  });

  test('a read-only disk refuses every change and answers every question', async () => {
    const each = world(1);
    const { scheduler, disk } = each;
    await scheduler.run(
      (async () => {
        const file = await durableFile(each, 'kept');
        disk.readOnly = true;
        const changes = [
          () => file.write(0, Buffer.from('x')),
          () => file.truncate(0),
          () => disk.open('/data/new', { create: true }),
          () => disk.rename('/data/a', '/data/b'),
          () => disk.remove('/data/a'),
        ];
        for (const change of changes) await assert.rejects(change, { code: 'EROFS' });
        assert.equal(Buffer.from(await file.read(0, 10)).toString(), 'kept');
        assert.equal(await file.size(), 4);
        await (await disk.open('/data/a')).close();
        assert.deepEqual(await disk.list('/data'), ['a']);
      })(),
    );
  });

  test('bytes that a test puts there are a copy, and so are those it looks at', async () => {
    const { scheduler, disk } = world(1);
    const bytes = Buffer.from('original');
    disk.poke('/data/a', bytes);
    bytes.fill('x');
    assert.equal(content(disk), 'original');
    await scheduler.run(
      (async () => {
        const file = await disk.open('/data/a');
        disk.peek('/data/a')!.fill(0);
        (await file.read(0, 8)).fill(0);
        assert.equal(content(disk), 'original');
        await file.write(0, Buffer.from('O'));
        disk.crash();
        assert.match(content(disk), /^[oO]riginal$/);
      })(),
    );
  });

  test('a write that the caller changes afterwards is synced as it was', async () => {
    const { scheduler, disk } = world(1);
    await scheduler.run(
      (async () => {
        const file = await disk.open('/data/a', { create: true });
        await disk.syncDirectory('/data');
        const bytes = Buffer.from('mine');
        await file.write(0, bytes);
        bytes.fill('x');
        await file.sync();
        disk.crash();
        assert.equal(content(disk), 'mine');
      })(),
    );
  });

  test('calls take virtual time, so that those of several tasks interleave', async () => {
    const { scheduler, disk } = world(1);
    await scheduler.run(Promise.all(['a', 'b'].map((name) => disk.open(`/data/${name}`, { create: true }))));
    assert.ok(scheduler.monotonicMs() > 0 && scheduler.monotonicMs() <= 1);
  });

  test('the same seed crashes in the same way', async () => {
    const run = async (seed: number) => {
      const each = world(seed);
      return each.scheduler.run(
        (async () => {
          const file = await durableFile(each, 'o'.repeat(4096));
          for (let at = 0; at < 5; at++) await file.write(at * 300, Buffer.alloc(1_500, String(at)));
          each.disk.crash();
          return content(each.disk);
        })(),
      );
    };
    const [first, other] = [await run(5), await run(6)];
    assert.equal(await run(5), first);
    assert.notEqual(other, first);
  });
});
