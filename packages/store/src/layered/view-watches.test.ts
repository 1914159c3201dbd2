import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { pick, seededRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import { checkOrder, readUntil } from '../conformance/watching.ts';
import type { Entry, Revision, Store, StoreEvent, Watch, WatchBatch, WatchOptions, Write } from '../contract.ts';
import { openMemoryStore } from '../drivers/memory/memory-store.ts';
import { prefixRange } from '../keys.ts';
import { BaseLayer } from './base-layer.ts';
import { layeredStore } from './layered-store.ts';

const prefix = '/registry/clusters/demo/';
const fenceKey = `${prefix}.hangar/tenant`;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const baseKeys = ['roles/a', 'roles/b', 'roles/c', 'spaces/default', 'spaces/system'];
const base = new BaseLayer(baseKeys.map((key) => ({ key, value: bytes(`base ${key}`) })));

/** Observes a view and the store below: open watches, and the batches with events that they delivered. */
function observed(store: Store): { store: Store; open: Set<Watch>; batches: () => number } {
  const open = new Set<Watch>();
  let batches = 0;
  const watch = (options: WatchOptions): Watch => {
    const source = store.watch(options);
    const next = source.next.bind(source);
    const close = source.close.bind(source);
    open.add(source);
    source.next = async () => {
      const batch = await next();
      if (batch && batch.events.length > 0) batches++;
      return batch;
    };
    source.close = () => {
      open.delete(source);
      close();
    };
    return source;
  };
  const proxy = new Proxy(store, {
    get(target, name) {
      if (name === 'watch') return watch;
      return (target[name as keyof Store] as (...rest: unknown[]) => unknown).bind(target);
    },
  });
  return { store: proxy, open, batches: () => batches };
}

async function opened({ watchQueueLengthMax = 1024, around = (store: Store): Store => store } = {}) {
  const raw = await openMemoryStore({ watchQueueLengthMax });
  const { revision } = await raw.commit([{ type: 'put', key: fenceKey, value: bytes('born') }]);
  const { store, open, batches } = observed(around(raw));
  const fence = { key: fenceKey, revision };
  const view = layeredStore({ store, prefix, base, baseRevision: revision, fence, watchQueueLengthMax });
  return { raw, view, open, batches, revision };
}

const put = (key: string, value = 'own'): Write => ({ type: 'put', key: prefix + key, value: bytes(value) });
const remove = (key: string): Write => ({ type: 'delete', key: prefix + key });

/** Waits until all watches have caught up. */
async function settled(): Promise<void> {
  for (let at = 0; at < 50; at++) await turn();
}

describe('many watches of one view', () => {
  test('share one stream: a write is told to those only that watch its prefix, of base entries or not', async () => {
    const { view, open, batches } = await opened();
    let told = 0;
    const idle = Array.from({ length: 500 }, (_, at) =>
      view.watch({ prefix: `${prefix}${at % 2 ? 'idle' : 'roles'}/` }),
    );
    const waiting = idle.map((watch) =>
      watch.next().then((batch) => {
        if (batch) told++;
      }),
    );
    const busy = view.watch({ prefix: `${prefix}busy/` });
    const first = busy.next();
    await settled();
    assert.equal(open.size, 1, 'sources that are open');
    const before = batches();
    let last = 0 as Revision;
    for (let at = 0; at < 20; at++) ({ revision: last } = await view.commit([put(`busy/${at}`)]));
    assert.equal((await first)!.events.length, 1);
    assert.equal((await readUntil(busy, last)).length, 19);
    assert.equal(batches() - before, 20, 'batches that came from the store, for all watches together');
    assert.equal(told, 0);
    await view.commit([remove('roles/a')]);
    await settled();
    assert.equal(told, 250);
    for (const watch of [...idle, busy]) watch.close();
    await Promise.all(waiting);
    assert.equal(open.size, 0, 'nobody watches: nothing is open');
  });

  test('one that is opened when others are live sees nothing from before it began', async () => {
    const { view } = await opened();
    const other = view.watch({ prefix });
    const waiting = other.next();
    await settled();
    for (let round = 0; round < 30; round++) {
      await view.commit([put('things/before', String(round))]);
      const watch = view.watch({ prefix });
      const { revision } = await view.commit([put('things/after', String(round))]);
      assert.equal((await watch.next())?.revision, revision);
      watch.close();
    }
    await waiting;
    other.close();
  });

  test('one that nobody reads holds a bounded queue and delays nobody; when it is read, it has missed nothing', async () => {
    const { view, open } = await opened({ watchQueueLengthMax: 5 });
    const [slow, fast] = [view.watch({ prefix }), view.watch({ prefix })];
    const firsts = [slow.next(), fast.next()];
    await settled();
    const { revision: start } = await view.commit([put('things/0')]);
    await Promise.all(firsts);
    let last = start;
    for (let at = 1; at <= 50; at++) {
      ({ revision: last } = await view.commit([put(`things/${at}`)]));
      assert.equal((await fast.next())?.revision, last);
    }
    assert.equal(open.size, 1, 'who sleeps costs no stream');
    assert.equal((await readUntil(slow, last)).length, 50);
    const waiting = slow.next();
    await settled();
    assert.equal(open.size, 1, 'awake, it shares again');
    const { revision } = await view.commit([put('things/last')]);
    assert.equal((await waiting)?.revision, revision);
    slow.close();
    fast.close();
  });

  test('one that fell behind what was compacted is told so, others go on', async () => {
    const { view, raw } = await opened({ watchQueueLengthMax: 5 });
    const [slow, fast] = [view.watch({ prefix }), view.watch({ prefix })];
    const firsts = [slow.next(), fast.next()];
    await settled();
    let { revision: last } = await view.commit([put('things/0')]);
    await Promise.all(firsts);
    for (let at = 1; at <= 20; at++) {
      ({ revision: last } = await view.commit([put(`things/${at}`)]));
      await fast.next();
    }
    await raw.compact(last);
    await assert.rejects(slow.next(), { code: 'Compacted' });
    await assert.rejects(slow.next(), { code: 'Compacted' }, 'it stays so');
    const old = view.watch({ prefix, fromRevision: (last - 3) as Revision });
    await assert.rejects(old.next(), { code: 'Compacted' });
    const { revision } = await view.commit([put('things/last')]);
    assert.equal((await fast.next())?.revision, revision);
    fast.close();
  });

  test('all end with the fence, idle ones too, after what ended with it', async () => {
    const { view, raw, open } = await opened();
    await view.commit([put('things/a')]);
    const watches = ['idle/', 'roles/', 'things/'].map((name) => view.watch({ prefix: prefix + name }));
    const waiting = watches.map((watch) => watch.next());
    const outcomes = Promise.allSettled(waiting);
    await settled();
    await raw.commit([{ type: 'deleteRange', range: prefixRange(prefix) }]);
    await raw.commit([{ type: 'put', key: fenceKey, value: bytes('born') }, put('things/of-another')]);
    const [idle, roles, things] = await outcomes;
    assert.ok(idle!.status === 'rejected' && (idle!.reason as { code: string }).code === 'Fenced');
    assert.ok(roles!.status === 'rejected' && (roles!.reason as { code: string }).code === 'Fenced');
    assert.ok(things!.status === 'fulfilled' && things!.value!.events[0]!.type === 'delete');
    for (const watch of watches) await assert.rejects(watch.next(), { code: 'Fenced' });
    assert.equal(open.size, 0);
  });

  test('one from a revision behind the fall tells nothing of who came after', async () => {
    const { view, raw } = await opened();
    await raw.commit([{ type: 'deleteRange', range: prefixRange(prefix) }]);
    const { revision } = await raw.commit([{ type: 'put', key: fenceKey, value: bytes('born') }]);
    const watch = view.watch({ prefix, fromRevision: (revision + 1) as Revision });
    await raw.commit([put('things/of-another')]);
    await assert.rejects(watch.next(), { code: 'Fenced' });
  });

  test('a mark that is asked for while another is on its way promises enough for both', async () => {
    const { view, raw } = await opened();
    const watches = Array.from({ length: 10 }, () => view.watch({ prefix: `${prefix}idle/` }));
    const reading = watches.map((watch) => watch.next());
    await settled();
    for (const [at, watch] of watches.entries()) {
      const { revision } = await raw.commit([{ type: 'put', key: `/elsewhere/${at}`, value: bytes('') }]);
      for (const other of watches.slice(0, at)) other.requestProgress();
      watch.requestProgress();
      let batch = await reading[at]!;
      while (batch!.revision < revision) batch = await watch.next();
      assert.deepEqual(batch!.events, []);
    }
    for (const watch of watches) watch.close();
  });

  test('a mark that waits for its reader does not answer a later request', async () => {
    const { view, raw } = await opened();
    const watch = view.watch({ prefix: `${prefix}idle/` });
    watch.requestProgress();
    await watch.next();
    watch.requestProgress();
    await settled();
    watch.requestProgress();
    await watch.next();
    await settled();
    const { revision } = await raw.commit([{ type: 'put', key: '/elsewhere', value: bytes('') }]);
    watch.requestProgress();
    assert.deepEqual(await watch.next(), { revision, events: [] });
    watch.close();
  });

  test('every request is answered by a mark, also when nothing happened since the last one', async () => {
    const { view, raw } = await opened();
    const watch = view.watch({ prefix: `${prefix}idle/` });
    const revision = await raw.revision();
    for (let round = 0; round < 3; round++) {
      watch.requestProgress();
      assert.deepEqual(await watch.next(), { revision, events: [] });
    }
    watch.close();
  });
});

describe('revisions that the store returns late or out of order', () => {
  /** Opens a view and a live watch of it. `answers` settles the calls of `revision()`, in the order of the calls. */
  async function withHeldRevisions() {
    const answers: ((revision: Revision) => void)[] = [];
    const revision = (): Promise<Revision> => new Promise((resolve) => answers.push(resolve));
    const around = (store: Store): Store =>
      new Proxy(store, {
        get(target, name) {
          if (name === 'revision') return revision;
          return (target[name as keyof Store] as (...rest: unknown[]) => unknown).bind(target);
        },
      });
    const { view, raw } = await opened({ around });
    const watch = view.watch({ prefix: `${prefix}idle/` });
    const first = watch.next();
    await settled();
    await view.commit([put('idle/a')]);
    await first;
    return { view, raw, watch, answers };
  }

  test('a revision that is higher than the mark of the source requests another mark', async () => {
    const { raw, watch, answers } = await withHeldRevisions();
    watch.requestProgress();
    await settled();
    const { revision } = await raw.commit([{ type: 'put', key: '/elsewhere', value: bytes('') }]);
    for (const answer of answers.splice(0)) answer(revision);
    assert.deepEqual(await watch.next(), { revision, events: [] });
    watch.close();
  });

  test('an earlier request that is answered last does not withdraw the mark', async () => {
    const { raw, watch, answers } = await withHeldRevisions();
    const revision = await raw.revision();
    watch.requestProgress();
    watch.requestProgress();
    for (const answer of answers.splice(0).reverse()) {
      answer(revision);
      await settled();
    }
    assert.deepEqual(await watch.next(), { revision, events: [] });
    watch.close();
  });

  test('an earlier request does not replace a later one that waits for its revision', async () => {
    const { raw, watch, answers } = await withHeldRevisions();
    watch.requestProgress();
    watch.requestProgress();
    await settled();
    const { revision } = await raw.commit([{ type: 'put', key: '/elsewhere', value: bytes('') }]);
    for (const answer of answers.splice(0).reverse()) answer(revision);
    assert.deepEqual(await watch.next(), { revision, events: [] });
    watch.close();
  });
});

describe('whatever a tenant does', () => {
  for (let seed = 1; seed <= 20; seed++) {
    test(`every watch tells what reads show, seed ${seed}`, () => campaign(seededRandom(seed)));
  }
});

const keys = [...baseKeys, 'roles/own', 'spaces/own', 'things/a', 'things/b'];
const prefixes = ['', prefix, 'roles/', 'roles/a', 'spaces/', 'things/', 'none/'].map((one) =>
  one.startsWith('/') || one === '' ? one : prefix + one,
);

interface Follower {
  readonly options: WatchOptions & { fromRevision: Revision };
  readonly batches: WatchBatch[];
  readonly done: Promise<void>;
}

async function campaign(random: Random): Promise<void> {
  const { view, raw, open, revision: born } = await opened({ watchQueueLengthMax: 1 + random.below(8) });
  const isOver = Promise.withResolvers<Revision>();
  const followers: Follower[] = [];
  const underWay: Promise<unknown>[] = [];
  const begin = async (): Promise<void> => {
    // Otherwise "from now" would be ambiguous.
    await Promise.all(underWay.splice(0));
    const now = await view.revision();
    const isFromNow = random.below(2) === 0;
    const from = isFromNow ? now + 1 : born + 1 + random.below(now - born + 2);
    const options = { prefix: pick(random, prefixes), previous: random.below(2) === 0, fromRevision: from as Revision };
    followers.push(follow(view, options, random, { end: isOver.promise, isFromNow }));
  };
  for (let step = 0; step < 120; step++) {
    if (random.below(6) === 0) await begin();
    if (random.below(3) === 0) await raw.commit([{ type: 'put', key: '/registry/clusters/other/x', value: bytes('') }]);
    underWay.push(view.commit(randomWrites(random)));
    if (random.below(2) === 0) await Promise.all(underWay.splice(0));
    else await turn();
  }
  await Promise.all(underWay);
  await view.commit([put('roles/a', 'end'), put('spaces/default', 'end'), put('things/a', 'end')]);
  const last = await raw.revision();
  isOver.resolve(last);
  await Promise.all(followers.map(({ done }) => done));
  assert.equal(open.size, 0);
  const history = await histories(view, born, last);
  for (const { options, batches } of followers) {
    batches.reduce<WatchBatch | undefined>((before, batch) => (checkOrder(before, batch), batch), undefined);
    assert.deepEqual(batches.filter(({ events }) => events.length > 0).map(plain), expected(history, options));
  }
}

function randomWrites(random: Random): Write[] {
  const isRange = random.below(10) === 0;
  const writes = new Map<string, Write>();
  if (isRange) writes.set('', { type: 'deleteRange', range: prefixRange(`${prefix}roles/`) });
  for (let left = 1 + random.below(3); left > 0; left--) {
    const key = pick(random, keys);
    if (isRange && key.startsWith('roles/')) continue;
    writes.set(key, random.below(5) < 2 ? remove(key) : put(key, String(random.below(1_000))));
  }
  return [...writes.values()];
}

/** Reads at varying speed until a mark covers everything. */
function follow(
  view: Store,
  { fromRevision, ...rest }: Follower['options'],
  random: Random,
  { end, isFromNow }: { readonly end: Promise<Revision>; readonly isFromNow: boolean },
): Follower {
  const watch = view.watch(isFromNow ? rest : { ...rest, fromRevision });
  const batches: WatchBatch[] = [];
  let last: Revision | undefined;
  void end.then((revision) => {
    last = revision;
    watch.requestProgress();
  });
  const done = (async () => {
    for await (const batch of watch) {
      batches.push(batch);
      if (batch.events.length === 0 && last !== undefined && batch.revision >= last) return;
      if (random.below(8) === 0) watch.requestProgress();
      if (random.below(4) === 0) for (let at = random.below(30); at > 0; at--) await turn();
    }
  })();
  return { options: { ...rest, fromRevision }, batches, done };
}

type State = ReadonlyMap<string, Entry>;

/** Returns the readable state at each revision. */
async function histories(view: Store, from: Revision, to: Revision): Promise<Map<Revision, State>> {
  const found = new Map<Revision, State>();
  for (let at = from; at <= to; at++) {
    const { entries } = await view.range(prefixRange(prefix), { atRevision: at });
    found.set(at, new Map(entries.map((entry) => [entry.key, entry])));
  }
  return found;
}

/** Derives the expected events of a watch from the differences between states. */
function expected(history: ReadonlyMap<Revision, State>, options: Follower['options']): unknown[] {
  const batches: unknown[] = [];
  let before: State | undefined;
  for (const [revision, state] of history) {
    const events: StoreEvent[] = [];
    for (const [key, entry] of state) {
      const previous = before?.get(key);
      if (entry.modRevision !== previous?.modRevision)
        events.push({ type: 'put', entry, ...(previous && { previous }) });
    }
    for (const [key, previous] of before ?? []) if (!state.has(key)) events.push({ type: 'delete', key, previous });
    const own = events.filter((event) => keyOf(event).startsWith(options.prefix));
    if (before && revision >= options.fromRevision && own.length > 0) {
      batches.push(plain({ revision, events: options.previous ? own : own.map(withoutPrevious) }));
    }
    before = state;
  }
  return batches;
}

const keyOf = (event: StoreEvent): string => (event.type === 'put' ? event.entry.key : event.key);
const withoutPrevious = (event: StoreEvent): StoreEvent =>
  event.type === 'put' ? { type: 'put', entry: event.entry } : { type: 'delete', key: event.key };

const plainEntry = (entry: Entry | undefined): unknown =>
  entry && { ...entry, value: Buffer.from(entry.value).toString() };

const plain = ({ revision, events }: WatchBatch): unknown => ({
  revision,
  events: events
    .map((event) => [keyOf(event), event.type === 'put' ? plainEntry(event.entry) : 'gone', plainEntry(event.previous)])
    .sort(([a], [b]) => (a! < b! ? -1 : 1)),
});
