/** Every sample and its mutations, compared with the answer of the real server: the same code, message and causes. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../object.ts';
import { startRealServer } from '../../testing/real-server.ts';
import type { RealServer } from '../../testing/real-server.ts';
import { allowsUnconditionalUpdate, onCreate, onUpdate } from './testing/our-path.ts';
import { answerOf, compare, decoded } from './testing/differential.ts';
import type { Comparison } from './testing/differential.ts';
import { mutations } from './testing/mutations.ts';
import { samples } from './testing/samples/index.ts';
import type { Sample } from './testing/samples/sample.ts';

interface Case {
  readonly what: string;
  readonly run: () => Promise<Comparison | undefined>;
}

let server: RealServer;
before(async () => {
  server = await startRealServer();
});
after(async () => server[Symbol.asyncDispose]());

function creation(path: string, object: JsonObject, what: string): Case {
  return {
    what: `create: ${what}`,
    async run() {
      const whole = decoded(object);
      const answer = await answerOf(server, 'POST', `${path}?dryRun=All`, object);
      if (!whole) return undefined;
      return compare(answer, whole, onCreate(path, whole));
    },
  };
}

interface Change {
  /** Path of the collection. */
  readonly path: string;
  readonly object: JsonObject;
  readonly old: JsonObject;
  readonly subresource?: string;
  readonly what: string;
}

function update({ path, object, old, subresource = '', what }: Change): Case {
  const name = (old['metadata'] as JsonObject)['name'] as string;
  const itself = `${path}/${name}${subresource === '' ? '' : `/${subresource}`}`;
  return {
    what: `update ${subresource}: ${what}`,
    async run() {
      const [whole, before] = [decoded(object), decoded(old)];
      const answer = await answerOf(server, 'PUT', `${itself}?dryRun=All`, object);
      if (!whole || !before) return undefined;
      return compare(answer, whole, onUpdate(path, whole, before, subresource));
    },
  };
}

const creations = ({ path, object, more = [] }: Sample): Case[] => [
  creation(path, object, 'as it is'),
  ...mutations(object).map((mutation) => creation(path, mutation.object, mutation.what)),
  ...more.map((one, at) => creation(path, one, `special ${at}`)),
];

/** The sample is created; the changes start from the stored object. */
async function changes({ path, object, createOnly, updates = [], statuses = [] }: Sample): Promise<Case[]> {
  if (createOnly) return [];
  const stored = await answerOf(server, 'POST', path, object);
  assert.ok((stored.code ?? 0) < 300, `the sample is valid: ${stored.message}`);
  if (path.endsWith('/apiservices')) await sleep(settleMs);
  const {
    code: _code,
    warnings: _warnings,
    ...old
  } = (await answerOf(
    server,
    'GET',
    `${path}/${(object['metadata'] as JsonObject)['name'] as string}`,
  )) as unknown as JsonObject;
  // Controllers of the server may write too.
  if (allowsUnconditionalUpdate(path)) delete (old['metadata'] as JsonObject)['resourceVersion'];
  return [
    ...every(2, mutations(old)).map((one) => update({ path, old, ...one })),
    ...updates.map((change, at) => update({ path, object: change(old), old, what: `special ${at}` })),
    ...statuses.flatMap(([subresource, change]) => {
      const base = change(old);
      const roots = subresource === 'finalize' ? ['spec'] : ['status'];
      return [{ what: 'as it is', object: base }, ...mutations(base, roots)].map((one) =>
        update({ path, old, subresource, ...one }),
      );
    }),
  ];
}

/** Updates mostly repeat what creations show: every so many of them is enough. */
const every = <T>(step: number, items: readonly T[]): T[] => items.filter((_, at) => at % step === 0);

/** Time until the server has set the availability in the status of an APIService. */
const settleMs = 1500;
const concurrency = 8;

type Found = Map<string, (Comparison & { what: string })[]>;

async function runAll(cases: readonly Case[], found: Found): Promise<void> {
  const waiting = [...cases];
  const worker = async (): Promise<void> => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const comparison = await next.run();
      const verdict = comparison?.verdict ?? 'not decoded';
      const list = found.get(verdict) ?? [];
      if (comparison) list.push({ ...comparison, what: next.what });
      found.set(verdict, list);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

const wanted = process.env['SAMPLE'];

describe('built-in kinds are validated as the real server does', () => {
  for (const sample of samples) {
    const { apiVersion, kind } = sample.object as { apiVersion: string; kind: string };
    if (wanted !== undefined && !`${apiVersion}/${kind}`.includes(wanted)) continue;
    test(`${apiVersion} ${kind} at ${sample.path}`, async (context) => {
      const found: Found = new Map();
      const isCompared = ({ what }: Case): boolean => !sample.except?.test(what);
      await runAll(creations(sample).filter(isCompared), found);
      await runAll((await changes(sample)).filter(isCompared), found);
      const counts = [...found].map(([verdict, list]) => `${verdict} ${list.length}`).join(', ');
      context.diagnostic(counts);
      const different = found.get('different') ?? [];
      const shown = (text: string): string => text.replaceAll(/a{50,}/g, 'a…').slice(0, 700);
      const text = different
        .slice(0, 6)
        .map(({ what, theirs, ours }) => `${what}\n  theirs ${shown(theirs)}\n  ours   ${shown(ours)}`);
      assert.equal(different.length, 0, `${counts}\n${text.join('\n')}`);
    });
  }
});
