/**
 * Concurrent writers, for a process that is about to be killed: creations, conditional updates and deletions of keys of one writer, and
 * transactions over shared keys. Every transaction has a witness.
 */

import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import type { Store } from '@hangar/store';
import { absent } from '../../packages/store/src/contract.ts';
import { StoreError } from '../../packages/store/src/errors.ts';
import type { Plan, PlannedWrite } from './plan.ts';
import { commitAndTell } from './telling.ts';

export const loadPrefix = '/crash/';
const sharedKeys = Array.from({ length: 48 }, (_, at) => `${loadPrefix}shared/${String(at).padStart(2, '0')}`);

/** Rounds are processes; their keys are deleted after two later ones have read them. */
const roundName = (round: number) => String(round).padStart(4, '0');

export interface LoadOptions {
  store: Store;
  random: Random;
  round: number;
  writers: number;
}

/** Never resolves: the process is killed. */
export async function load(options: LoadOptions): Promise<void> {
  await sweep(options);
  await Promise.all(Array.from({ length: options.writers }, (_, writer) => write(options, writer)));
}

/** Deletes the keys of two rounds ago, in two transactions that can be interrupted like any other. */
async function sweep({ store, round }: LoadOptions): Promise<void> {
  for (const folder of ['receipts', 'own']) {
    const id = `${roundName(round)}-sweep-${folder}`;
    const witness = receipt(round, id);
    const range = {
      start: `${loadPrefix}${folder}/`,
      end: `${loadPrefix}${folder}/${roundName(Math.max(0, round - 1))}`,
    };
    await commitAndTell(store, {
      id,
      witness,
      writes: [
        { type: 'put', key: witness, size: 0 },
        { type: 'deleteRange', ...range },
      ],
    });
  }
}

function receipt(round: number, id: string): string {
  return `${loadPrefix}receipts/${roundName(round)}/${id}`;
}

async function write(options: LoadOptions, writer: number): Promise<void> {
  const { store, random, round } = options;
  const own = { key: '', revision: 0, changes: 0 };
  const newOwnKey = () => {
    own.key = `${loadPrefix}own/${roundName(round)}/${writer}-${own.changes++}`;
    own.revision = 0;
  };
  newOwnKey();
  for (let count = 0; ; count++) {
    const id = `${roundName(round)}-${writer}-${count}`;
    const plan = await planNext(options, id, own);
    const answer = await commitAndTell(store, plan);
    const deletesOwn = plan.writes[0]?.type === 'delete';
    if ('revision' in answer) {
      if (plan.witness === own.key) own.revision = deletesOwn ? 0 : answer.revision;
      continue;
    }
    // The value of the key is unknown now: it stays as it is, for the reader.
    if (answer.mayHaveHappened && plan.witness === own.key) newOwnKey();
    if (answer.code !== 'conflict') await new Promise((resolve) => setTimeout(resolve, 5 + random.below(20)));
  }
}

async function planNext(
  { store, random, round }: LoadOptions,
  id: string,
  own: { key: string; revision: number },
): Promise<Plan> {
  const kind = random.below(100);
  if (kind < 20) return { id, witness: own.key, writes: [putOwn(random, own)] };
  if (kind < 27 && own.revision > 0) {
    return { id, witness: own.key, writes: [{ type: 'delete', key: own.key, expected: own.revision }] };
  }
  const witness = receipt(round, id);
  const first: PlannedWrite = { type: 'put', key: witness, size: sizeOf(random), expected: absent };
  if (kind < 60) return { id, witness, writes: [first] };
  return { id, witness, writes: [first, ...(await sharedWrites(store, random))] };
}

function putOwn(random: Random, own: { key: string; revision: number }): PlannedWrite {
  const put = { type: 'put', key: own.key, size: sizeOf(random) } as const;
  return chance(random, 0.7) ? { ...put, expected: own.revision } : put;
}

async function sharedWrites(store: Store, random: Random): Promise<PlannedWrite[]> {
  if (chance(random, 0.1)) {
    const from = random.below(sharedKeys.length - 4);
    return [{ type: 'deleteRange', start: sharedKeys[from]!, end: sharedKeys[from + 1 + random.below(3)]! }];
  }
  const keys = new Set(Array.from({ length: 1 + random.below(5) }, () => pick(random, sharedKeys)));
  const conditional = chance(random, 0.6);
  return Promise.all(
    [...keys].map(async (key): Promise<PlannedWrite> => {
      const condition = conditional ? { expected: await modRevision(store, key) } : {};
      if (chance(random, 0.2)) return { type: 'delete', key, ...condition };
      return { type: 'put', key, size: sizeOf(random), ...condition };
    }),
  );
}

/** A guess is enough when the store does not answer: the commit is refused or interrupted as well. */
async function modRevision(store: Store, key: string): Promise<number> {
  try {
    return (await store.get(key)).entry?.modRevision ?? absent;
  } catch (error) {
    if (error instanceof StoreError) return absent;
    throw error;
  }
}

/** Mostly small; sometimes large enough for a commit of many pages. */
function sizeOf(random: Random): number {
  return chance(random, 0.02) ? 5_000 + random.below(60_000) : random.below(400);
}
