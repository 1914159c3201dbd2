/** The test suite of every driver. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '@hangar/api';
import { EventFilter } from '../../filter/filter.ts';
import { readBatch } from '../../ingest/batch.ts';
import { defaultPolicies } from '../../policy/defaults.ts';
import { PolicySet } from '../../policy/policy.ts';
import { auditEvent, batchOf } from '../../testing/events.ts';
import { startOfDay } from '../contract.ts';
import type { EventDatabase, EventQuery, NewEvent, VisiblePlanes } from '../contract.ts';

export interface Driver {
  readonly name: string;
  /** Opens an empty database. `reopen` closes it and opens it again. */
  open(): Promise<Opened>;
}

export interface Opened extends AsyncDisposable {
  database: EventDatabase;
  reopen(): Promise<void>;
}

const policies = new PolicySet(defaultPolicies);
const day = 20_000;
const nowUs = startOfDay(day) + 3_600_000_000;

export function eventsOf(...items: readonly JsonObject[]): readonly NewEvent[] {
  const limits = { nowUs: nowUs + 1e12, oldestUs: 0 };
  return readBatch(batchOf(...items), { plane: undefined }, policies, limits).events;
}

const everything: EventQuery = {
  planes: 'all',
  startUs: 0,
  endUs: Number.MAX_SAFE_INTEGER,
  after: undefined,
  filter: undefined,
  limit: 1_000,
  scanMax: 1_000_000,
  bytesMax: 1e12,
};

const plane = (name: string, sinceUs = 0): VisiblePlanes => [{ name, sinceUs }];
const idsOf = (events: readonly { readonly columns: { readonly auditId: string } }[]): string[] =>
  events.map(({ columns }) => columns.auditId);

/** `test` functions of the suite; all databases are closed, also when a test fails. */
export function conformance(driver: Driver): void {
  describe(`the database ${driver.name}`, () => {
    const opened = (run: (one: Opened) => Promise<void>) => async (): Promise<void> => {
      await using one = await driver.open();
      await run(one);
    };

    test(
      'an event that is delivered twice is stored once, also after a restart',
      opened(async (one) => {
        const events = eventsOf(auditEvent({ id: 'a', timeUs: nowUs }), auditEvent({ id: 'b', timeUs: nowUs }));
        assert.equal((await one.database.append(events, nowUs)).added, 2);
        assert.equal((await one.database.append(events, nowUs)).added, 0);
        assert.equal((await one.database.append([...events, ...events], nowUs)).added, 0);
        await one.reopen();
        assert.equal((await one.database.append(events, nowUs)).added, 0);
        assert.equal((await one.database.query(everything)).events.length, 2);
        const { activities } = await one.database.activities({ planes: 'all', afterVersion: 0, limit: 10 });
        assert.equal(activities.length, 2);
      }),
    );

    test(
      'an audit ID that a client repeats does not hide another event, and the stages of a request are separate',
      opened(async ({ database }) => {
        const base = { id: 'same', timeUs: nowUs };
        const events = eventsOf(
          auditEvent({ ...base, verb: 'get' }),
          auditEvent({ ...base, verb: 'delete' }),
          auditEvent({ ...base, verb: 'delete', stage: 'RequestReceived' }),
          auditEvent({ ...base, verb: 'delete', plane: 'other' }),
        );
        assert.equal((await database.append(events, nowUs)).added, 4);
      }),
    );

    test(
      'results are newest first, in pages without gap or repetition, over partitions and planes',
      opened(async ({ database }) => {
        const items = Array.from({ length: 90 }, (_, at) =>
          auditEvent({
            id: `e${at}`,
            plane: ['red', 'blue', 'green'][at % 3]!,
            timeUs: startOfDay(day + (at % 4)) + Math.floor(at / 5) * 1_000,
          }),
        );
        await database.append(eventsOf(...items), nowUs);
        for (const planes of ['all', plane('red'), [...plane('red'), ...plane('blue')]] as VisiblePlanes[]) {
          const whole = (await database.query({ ...everything, planes })).events;
          assert.equal(whole.length, planes === 'all' ? 90 : planes.length * 30);
          for (const [at, event] of whole.slice(1).entries()) assert.ok(whole[at]!.timeUs >= event.timeUs);
          const paged: string[] = [];
          let after: EventQuery['after'];
          do {
            const page = await database.query({ ...everything, planes, limit: 7, after });
            assert.ok(page.events.length <= 7);
            paged.push(...idsOf(page.events));
            after = page.next;
          } while (after);
          assert.deepEqual(paged, idsOf(whole));
        }
      }),
    );

    test(
      'a query returns events of visible planes only, and of a plane only since its creation',
      opened(async ({ database }) => {
        await database.append(
          eventsOf(
            auditEvent({ id: 'old', plane: 'red', timeUs: nowUs - 10 }),
            auditEvent({ id: 'new', plane: 'red', timeUs: nowUs }),
            auditEvent({ id: 'blue', plane: 'blue', timeUs: nowUs }),
            auditEvent({ id: 'root', timeUs: nowUs }),
          ),
          nowUs,
        );
        const seen = async (planes: VisiblePlanes) =>
          idsOf((await database.query({ ...everything, planes })).events).sort();
        assert.deepEqual(await seen(plane('red', nowUs)), ['new']);
        assert.deepEqual(await seen(plane('red')), ['new', 'old']);
        assert.deepEqual(await seen([]), []);
        assert.deepEqual(await seen('all'), ['blue', 'new', 'old', 'root']);
        const told = await database.activities({ planes: plane('red', nowUs), afterVersion: 0, limit: 10 });
        assert.deepEqual(
          told.activities.map((one) => one.plane),
          ['red'],
        );
        const other = (await database.activities({ planes: plane('blue'), afterVersion: 0, limit: 1 })).activities[0]!;
        assert.equal(await database.activity(other.version, plane('red')), undefined);
        assert.equal((await database.activity(other.version, plane('blue')))!.text, other.text);
        assert.equal(await database.countActivities({ planes: plane('red'), afterVersion: 0, limit: 10 }), 2);
      }),
    );

    test(
      'times are inclusive at the start and exclusive at the end',
      opened(async ({ database }) => {
        const at = [0, 1, 2].map((more) => auditEvent({ id: `${more}`, timeUs: nowUs + more }));
        await database.append(eventsOf(...at), nowUs);
        const { events } = await database.query({ ...everything, startUs: nowUs + 1, endUs: nowUs + 2 });
        assert.deepEqual(idsOf(events), ['1']);
      }),
    );

    test(
      'a query with a filter that matches little examines a bounded number of events and goes on later',
      opened(async ({ database }) => {
        const items = Array.from({ length: 12_000 }, (_, at) =>
          auditEvent({ id: `e${at}`, plane: 'red', verb: at === 3 ? 'delete' : 'get', timeUs: nowUs + at }),
        );
        await database.append(eventsOf(...items), nowUs);
        const filter = new EventFilter('verb == "delete"').sql;
        const found: string[] = [];
        let after: EventQuery['after'];
        let calls = 0;
        do {
          const page = await database.query({ ...everything, planes: plane('red'), filter, after, scanMax: 5_000 });
          found.push(...idsOf(page.events));
          after = page.next;
          calls++;
        } while (after);
        assert.deepEqual(found, ['e3']);
        assert.ok(calls > 1 && calls <= 4, `${calls} calls`);
      }),
    );

    test(
      'a query stops after a number of bytes, with at least one event, and goes on without gap or repetition',
      opened(async ({ database }) => {
        const items = Array.from({ length: 40 }, (_, at) =>
          auditEvent({
            id: `e${at}`,
            plane: ['red', 'blue'][at % 2]!,
            verb: at % 4 < 2 ? 'delete' : 'get',
            timeUs: startOfDay(day + (at % 3)) + at,
            response: { data: 'x'.repeat(5_000) },
          }),
        );
        await database.append(eventsOf(...items), nowUs);
        const filters = [undefined, new EventFilter('verb == "delete"').sql];
        for (const planes of ['all', [...plane('red'), ...plane('blue')]] as VisiblePlanes[]) {
          for (const [bytesMax, lengthMax] of [
            [1, 1],
            [17_000, 4],
          ] as const) {
            for (const filter of filters) {
              const whole = idsOf((await database.query({ ...everything, planes, filter })).events);
              assert.equal(whole.length, filter ? 20 : 40);
              const paged: string[] = [];
              let after: EventQuery['after'];
              do {
                const page = await database.query({ ...everything, planes, filter, after, bytesMax });
                assert.ok(page.events.length <= lengthMax, `${page.events.length} events in ${bytesMax} bytes`);
                paged.push(...idsOf(page.events));
                after = page.next;
              } while (after);
              assert.deepEqual(paged, whole);
            }
          }
        }
      }),
    );

    test(
      'versions of activities increase, survive a restart, and pages of them have no gap',
      opened(async (one) => {
        for (let at = 0; at < 5; at++) await one.database.append(eventsOf(auditEvent({ timeUs: nowUs + at })), nowUs);
        const before = await one.database.activities({ planes: 'all', afterVersion: 0, limit: 3 });
        await one.reopen();
        await one.database.append(eventsOf(auditEvent({ timeUs: nowUs })), nowUs + 86_400_000_000);
        const last = before.activities.at(-1)!.version;
        const rest = await one.database.activities({ planes: 'all', afterVersion: last, limit: 10 });
        const versions = [...before.activities, ...rest.activities].map(({ version }) => version);
        assert.equal(versions.length, 6);
        assert.deepEqual(
          versions,
          [...new Set(versions)].sort((a, b) => a - b),
        );
        assert.equal(rest.version, versions.at(-1));
        const upTo = await one.database.activities({ planes: 'all', afterVersion: 0, upToVersion: last, limit: 10 });
        assert.equal(upTo.activities.length, 3);
      }),
    );

    test(
      'retention drops whole partitions, and the floor says up to which version activities are gone',
      opened(async (one) => {
        await one.database.append(eventsOf(auditEvent({ id: 'old', timeUs: nowUs })), nowUs);
        const { version } = await one.database.activities({ planes: 'all', afterVersion: 0, limit: 1 });
        const later = startOfDay(day + 5);
        await one.database.append(eventsOf(auditEvent({ id: 'new', timeUs: later })), later);
        const options = { nowUs: later, bytesMax: Infinity };
        await one.database.retain({ ...options, beforeUs: startOfDay(day + 1) - 1 });
        assert.equal((await one.database.query(everything)).events.length, 2, 'the day is not over');
        assert.equal(await one.database.retain({ ...options, beforeUs: startOfDay(day + 1) }), true);
        await one.reopen();
        assert.deepEqual(idsOf((await one.database.query(everything)).events), ['new']);
        const kept = await one.database.activities({ planes: 'all', afterVersion: 0, limit: 10 });
        assert.equal(kept.activities.length, 1);
        assert.equal(kept.floor, version);
      }),
    );

    test(
      'a database that is too large loses its oldest days first, and never the current one',
      opened(async (one) => {
        const data = 'x'.repeat(20_000);
        for (const at of [0, 1, 2]) {
          const timeUs = startOfDay(day + at);
          const items = Array.from({ length: 60 }, (_, number) =>
            auditEvent({ id: `e${at}-${number}`, timeUs, response: { data: `${number}${data}` } }),
          );
          await one.database.append(eventsOf(...items), timeUs);
        }
        const days = async (): Promise<string[]> => [
          ...new Set(idsOf((await one.database.query(everything)).events).map((id) => id.slice(0, 2))),
        ];
        const options = { beforeUs: 0, nowUs: startOfDay(day + 2) };
        assert.equal(await one.database.retain({ ...options, bytesMax: 1e9 }), true);
        assert.deepEqual(await days(), ['e2', 'e1', 'e0']);
        assert.equal(await one.database.retain({ ...options, bytesMax: 1 }), false);
        assert.deepEqual(await days(), ['e2']);
        const kept = await one.database.activities({ planes: 'all', afterVersion: 0, limit: 1_000 });
        assert.equal(kept.activities.length, 60);
        assert.equal(kept.floor, kept.activities[0]!.version - 1);
      }),
    );

    test(
      'a control plane beyond its limits of a day stores events without objects, then none, and others are not affected',
      opened(async (one) => {
        let last = 0;
        const append = (plane: string, count: number, nowAt = nowUs) =>
          one.database.append(
            eventsOf(
              ...Array.from({ length: count }, () =>
                auditEvent({
                  id: `${plane}${last++}`,
                  plane,
                  timeUs: nowUs + last,
                  response: { data: 'x'.repeat(8_000) },
                }),
              ),
            ),
            nowAt,
            { wholeBytesMax: 50_000, bytesMax: 80_000 },
          );
        const first = await append('red', 30);
        assert.deepEqual(first.limitedPlanes, ['red']);
        assert.ok(first.added > 6 && first.added < 30, `${first.added} events`);
        const stored = (await one.database.query({ ...everything, planes: plane('red') })).events;
        assert.equal(stored.length, first.added);
        const whole = stored.filter(({ text }) => 'responseObject' in JSON.parse(text));
        assert.ok(whole.length >= 4 && whole.length <= 6, `${whole.length} whole events`);
        const short = JSON.parse(stored[0]!.text);
        assert.equal(short.annotations['audit.k8s.io/truncated'], 'true');
        assert.equal(short.annotations['tenancy.hangar.dev/tenant'], 'red');
        await one.reopen();
        const second = await append('red', 5);
        assert.deepEqual([second.added, second.limitedPlanes], [0, []], 'reported once');
        assert.deepEqual([(await append('blue', 3)).added, (await append('root', 3)).added], [3, 3]);
        assert.equal((await append('red', 3, nowUs + 86_400_000_000)).added, 3, 'another day');
        const told = await one.database.activities({ planes: plane('red'), afterVersion: 0, limit: 1_000 });
        assert.equal(told.activities.length, first.added + 3);
      }),
    );

    test(
      'a repeated delivery does not count again',
      opened(async ({ database }) => {
        const limits = { wholeBytesMax: 5_000, bytesMax: 6_000 };
        const events = eventsOf(auditEvent({ plane: 'red', timeUs: nowUs }));
        for (let at = 0; at < 20; at++) await database.append(events, nowUs, limits);
        const more = eventsOf(auditEvent({ plane: 'red', timeUs: nowUs }));
        assert.equal((await database.append(more, nowUs, limits)).added, 1);
      }),
    );

    test(
      'a summary has the value before the change, also in one batch and after a restart',
      opened(async (one) => {
        const scaled = (replicas: number, verb = 'patch', uid = 'one') =>
          auditEvent({
            verb,
            reference: verb === 'patch' ? { subresource: 'scale' } : {},
            response: { kind: verb === 'patch' ? 'Scale' : 'Deployment', metadata: { uid }, spec: { replicas } },
            timeUs: nowUs,
          });
        await one.database.append(eventsOf(scaled(2, 'create'), scaled(5)), nowUs);
        await one.reopen();
        await one.database.append(eventsOf(scaled(3)), nowUs);
        const { activities } = await one.database.activities({ planes: 'all', afterVersion: 0, limit: 10 });
        assert.deepEqual(
          activities.map(({ text }) => JSON.parse(text).summary),
          [
            'kim created Deployment web in namespace shop',
            'kim scaled Deployment web from 2 to 5',
            'kim scaled Deployment web from 5 to 3',
          ],
        );
        // The control plane was deleted, and another owner created one of the same name.
        await one.database.append(eventsOf(scaled(4, 'patch', 'two'), scaled(6, 'patch', '')), nowUs);
        const later = await one.database.activities({
          planes: 'all',
          afterVersion: activities.at(-1)!.version,
          limit: 10,
        });
        assert.deepEqual(
          later.activities.map(({ text }) => JSON.parse(text).summary),
          ['kim scaled Deployment web to 4', 'kim scaled Deployment web to 6'],
        );
      }),
    );

    test(
      'the secret stays the same',
      opened(async (one) => {
        const secret = await one.database.secret();
        assert.equal(secret.length, 32);
        await one.reopen();
        assert.deepEqual(Buffer.from(await one.database.secret()), Buffer.from(secret));
      }),
    );
  });
}
