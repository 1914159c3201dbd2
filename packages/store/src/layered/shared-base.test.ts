import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KeyRange, Revision, Store, Write } from '../contract.ts';
import { openMemoryStore } from '../drivers/memory/memory-store.ts';
import { everything, prefixRange } from '../keys.ts';
import { BaseLayer } from './base-layer.ts';
import type { Base } from './base-layer.ts';
import { layeredStore } from './layered-store.ts';

const prefix = '/registry/clusters/demo/';
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (value: Uint8Array): string => new TextDecoder().decode(value);
const keys = Array.from({ length: 50 }, (_, at) => `things/${String(at).padStart(2, '0')}`);

/** Entries that contain the name of their tenant, with the number of values created. */
class NamedBase implements Base {
  readonly #keys = new BaseLayer(keys.map((key) => ({ key, value: bytes('') })));
  readonly #name: string;
  made = 0;

  constructor(name: string) {
    this.#name = name;
  }

  get size(): number {
    return this.#keys.size;
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  value(key: string): Uint8Array | undefined {
    if (!this.has(key)) return undefined;
    this.made++;
    return bytes(`${this.#name} ${key}`);
  }

  valueLength(key: string): number {
    return this.has(key) ? Buffer.byteLength(`${this.#name} ${key}`) : 0;
  }

  keysIn(range: KeyRange): string[] {
    return this.#keys.keysIn(range);
  }
}

/** Counts the reads that a view makes of the store below. */
function counting(store: Store): { store: Store; reads: () => number } {
  let reads = 0;
  const counted = new Set<PropertyKey>(['get', 'range', 'statistics']);
  const proxy = new Proxy(store, {
    get(target, name) {
      const member = target[name as keyof Store] as (...rest: unknown[]) => unknown;
      return (...rest: unknown[]) => {
        if (counted.has(name)) reads++;
        return member.apply(target, rest);
      };
    },
  });
  return {
    store: proxy,
    reads: () => {
      const seen = reads;
      reads = 0;
      return seen;
    },
  };
}

async function view(name = 'demo') {
  const { store, reads } = counting(await openMemoryStore());
  const { revision } = await store.commit([{ type: 'put', key: '/tenants/demo', value: bytes('made') }]);
  const base = new NamedBase(name);
  return { store, reads, base, revision, view: layeredStore({ store, prefix, base, baseRevision: revision }) };
}

const put = (key: string): Write => ({ type: 'put', key: prefix + key, value: bytes('own') });

describe('a base that each tenant sees in its own way', () => {
  test('is rendered for the tenant in gets, ranges, watches and conflicts', async () => {
    const store = await openMemoryStore();
    const { revision } = await store.commit([{ type: 'put', key: '/tenants', value: bytes('made') }]);
    for (const name of ['one', 'two']) {
      const at = `/registry/clusters/${name}/`;
      const tenant = layeredStore({ store, prefix: at, base: new NamedBase(name), baseRevision: revision });
      assert.equal(text((await tenant.get(`${at}things/07`)).entry!.value), `${name} things/07`);
      const { entries } = await tenant.range(everything);
      assert.deepEqual(
        entries.map(({ key, value }) => [key, text(value)]),
        keys.map((key) => [at + key, `${name} ${key}`]),
      );
      const conflicted = await tenant.commit([
        { type: 'put', key: `${at}things/07`, value: bytes('x'), expected: 0 as Revision },
      ]);
      assert.equal(!conflicted.committed && text(conflicted.conflicts[0]!.entry!.value), `${name} things/07`);
      const watch = tenant.watch({ prefix: at, previous: true });
      await tenant.commit([{ type: 'delete', key: `${at}things/07` }]);
      assert.equal(text((await watch.next())!.events[0]!.previous!.value), `${name} things/07`);
      watch.close();
    }
  });

  test('makes no value that nobody reads', async () => {
    const { view: tenant, base } = await view();
    await tenant.range(everything, { keysOnly: true });
    await tenant.statistics(everything);
    await tenant.commit([put('others/a')]);
    assert.equal(base.made, 0);
    await tenant.range(everything, { limit: 5 });
    assert.ok(base.made <= 6, `made ${base.made}`);
  });

  test('counts in statistics as what is read, whatever was changed and deleted', async () => {
    const { view: tenant } = await view('名');
    await tenant.commit([put('a/first'), put('things/03'), put('things/zz'), put('zz/last')]);
    await tenant.commit([
      { type: 'delete', key: `${prefix}things/05` },
      { type: 'delete', key: `${prefix}things/49` },
    ]);
    for (const range of [everything, prefixRange(`${prefix}things/0`), prefixRange(`${prefix}zz/`)]) {
      const { entries, revision } = await tenant.range(range);
      const total = entries.reduce((sum, { key, value }) => sum + Buffer.byteLength(key) + value.length, 0);
      const expected = { keys: entries.length, bytes: total, revision };
      assert.deepEqual(await tenant.statistics(range), expected);
    }
  });
});

describe('a new tenant', () => {
  test('is read in one go, whatever the size of the base', async () => {
    const { view: tenant, reads } = await view();
    reads();
    await tenant.get(`${prefix}things/01`);
    assert.equal(reads(), 2, 'the entry and its tombstone');
    await tenant.get(`${prefix}others/01`);
    assert.equal(reads(), 1, 'no base there');
    await tenant.range(prefixRange(`${prefix}things/`));
    assert.equal(reads(), 2, 'entries and tombstones');
    await tenant.range(prefixRange(`${prefix}others/`));
    assert.equal(reads(), 1, 'no base there');
    await tenant.statistics(everything);
    assert.ok(reads() <= 3, 'statistics do not grow with the base');
    await tenant.commit([put('things/01'), put('others/01')]);
    reads();
    await tenant.statistics(everything);
    assert.ok(reads() <= 4, 'nor with own entries');
  });

  test('is read at one revision, though others write between two reads', async () => {
    const { store, view: tenant, revision } = await view();
    const hides = { type: 'put', key: `${prefix}.hidden/things/01`, value: bytes('') } as const;
    // A race: the tombstone is written after the entries were read, and the view must not show it.
    const between = new Proxy(store, {
      get(target, name) {
        if (name !== 'range') return (target[name as keyof Store] as (...rest: unknown[]) => unknown).bind(target);
        return async (range: KeyRange, options: { atRevision?: Revision }) => {
          if (range.start.includes('.hidden') && options.atRevision === undefined) await target.commit([hides]);
          return target.range(range, options);
        };
      },
    });
    const overtaken = layeredStore({ store: between, prefix, base: new NamedBase('demo'), baseRevision: revision });
    const seen = await overtaken.range(prefixRange(`${prefix}things/`));
    assert.equal(seen.revision, revision);
    assert.equal(seen.entries.length, keys.length);
    assert.equal((await tenant.range(prefixRange(`${prefix}things/`))).entries.length, keys.length - 1);
  });

  test('a range that is none is refused', async () => {
    const { view: tenant } = await view();
    for (const range of [{ start: 5 }, { start: '\ud800' }, undefined] as unknown[] as KeyRange[]) {
      await assert.rejects(tenant.range(range), /range|bound/);
      await assert.rejects(tenant.statistics(range), /range|bound/);
    }
  });
});
