/**
 * Amplification inputs: definitions, policies, roles, webhooks, bodies, patches and reads of one tenant that make the server do much more
 * work than their size suggests. No input may block the event loop for longer than the limit, 50 ms of CPU time unless
 * HANGAR_STALL_LIMIT_MS sets another one.
 *
 * A run is a server with fifty inputs. An input that exceeds the limit is repeated on new servers, because compilation and garbage
 * collection also take time: only the shortest of three tries counts.
 */

import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import { json, patches, yaml } from './stalls/bodies.ts';
import { builtins } from './stalls/builtins.ts';
import { defaults, laterDefaults, schemas } from './stalls/definitions.ts';
import { policies, rules } from './stalls/expressions.ts';
import type { Generator, StallInput, Step } from './stalls/input.ts';
import { lists, reads, reviews } from './stalls/reads.ts';
import { roles } from './stalls/roles.ts';
import { openStallServer, prepared } from './stalls/server.ts';
import type { StallServer } from './stalls/server.ts';
import { measureSlices } from './stalls/slice-meter.ts';
import { webhooks } from './stalls/webhooks.ts';

export const runsDefault = 4_000;
const inputsPerRun = 50;
const tries = 3;
const limitMs = Number(process.env['HANGAR_STALL_LIMIT_MS'] ?? 50);
/** Neither compilation nor garbage collection takes this long. */
const certainMs = 20 * limitMs;
const rssMaxBytes = 2 * 1024 ** 3;
const servedAttemptsMax = 200;

const cheap: readonly Generator[] = [json, yaml, patches, reads, reviews, lists];
const costly: readonly Generator[] = [defaults, laterDefaults, schemas, rules, policies, webhooks, roles, builtins];
const costlyChance = 0.12;

interface Slice {
  readonly ms: number;
  readonly step: Step;
  readonly status: number;
}

export async function fuzz(random: Random): Promise<void> {
  // The server's timers are unreferenced.
  const alive = setInterval(() => {}, 60_000);
  try {
    await checkInputs(openStallServer, function* () {
      for (let left = inputsPerRun; left > 0; left--) yield some(random);
    });
    const rss = process.memoryUsage.rss();
    if (rss > rssMaxBytes) throw new Error(`${Math.round(rss / 1024 ** 2)} MiB of memory are in use`);
  } finally {
    clearInterval(alive);
  }
}

const some = (random: Random): StallInput => pick(random, chance(random, costlyChance) ? costly : cheap)(random);

/** Sends the inputs to one server. Throws if one of them exceeds the limit on new servers as well. */
export async function checkInputs(open: () => Promise<StallServer>, inputs: () => Iterable<StallInput>): Promise<void> {
  await using server = await open();
  for (const input of inputs()) {
    const slice = await longestSlice(server, input);
    if (slice.ms > limitMs) await confirm(open, input, slice);
  }
}

async function confirm(open: () => Promise<StallServer>, input: StallInput, first: Slice): Promise<void> {
  let shortest = first;
  for (let again = 1; again < tries && shortest.ms < certainMs; again++) {
    await using server = await open();
    const slice = await longestSlice(server, input);
    if (slice.ms <= limitMs) return;
    if (slice.ms < shortest.ms) shortest = slice;
  }
  const { ms, step, status } = shortest;
  const { method, target, headers = {} } = step;
  const body = Buffer.from(prepared(step).body.subarray(0, 300)).toString('latin1');
  const request = `${method} ${target.slice(0, 300)} ${JSON.stringify(headers).slice(0, 200)}`;
  throw new Error(`a slice of ${ms.toFixed(0)} ms: ${input.name}\n${request} → ${status} ${body}`);
}

async function longestSlice(server: StallServer, input: StallInput): Promise<Slice> {
  let longest: Slice | undefined;
  for (const step of input.steps) {
    const request = prepared(step);
    const send = async (): Promise<number> => {
      let status = await server.send(request);
      for (let left = servedAttemptsMax; step.untilServed && status === 404 && left > 0; left--) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        status = await server.send(request);
      }
      return status;
    };
    const { value: status, longestMs: ms } = await measureSlices(send);
    if (!longest || ms > longest.ms) longest = { ms, step, status };
    // Stop after a stall, or if a refused definition is never served.
    if (ms > limitMs || (step.untilServed && status === 404)) break;
  }
  return longest!;
}
