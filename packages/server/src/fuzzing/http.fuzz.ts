/**
 * Sends hostile requests to the API server: most in process, some over misused sockets. Each must get a success or a proper refusal,
 * refused objects must not be stored, prototypes must not change, memory must stay bounded, and a well-behaved client must still be served.
 *
 * Each run uses a new server with a thousand requests; the usual thousand runs make a million.
 */

import assert from 'node:assert/strict';
import type { Random } from '@hangar/core';
import { checkCanary, fireInProcess, prepare } from './in-process.ts';
import { fireOverSockets } from './sockets/fire.ts';
import { openSubject } from './subject.ts';

export const runsDefault = 1_000;
const requestsPerRun = 1_000;
const socketActsPerRun = 10;
const rssMaxBytes = 1_200 * 1024 * 1024;
const tellEvery = 50_000;

const totals = { inProcess: 0, overSockets: 0, startedMs: 0, toldAt: 0 };

export async function fuzz(random: Random): Promise<void> {
  totals.startedMs ||= performance.now();
  const subject = await openSubject(random);
  // The server's timers are unreferenced: without this timer, the thread would exit while waiting for them.
  const alive = setInterval(() => {}, 60_000);
  try {
    await prepare(subject);
    await fireInProcess(random, subject, requestsPerRun);
    await checkCanary(subject);
    totals.overSockets += await fireOverSockets(random, subject, socketActsPerRun);
    await checkCanary(subject);
  } finally {
    clearInterval(alive);
    await subject.close();
  }
  totals.inProcess += requestsPerRun;
  const rss = process.memoryUsage.rss();
  assert.ok(rss < rssMaxBytes, `${Math.round(rss / 2 ** 20)} MiB of memory are in use`);
  tell(rss);
}

function tell(rss: number): void {
  const { inProcess, overSockets, startedMs } = totals;
  if (inProcess + overSockets - totals.toldAt < tellEvery) return;
  totals.toldAt = inProcess + overSockets;
  const rate = Math.round((inProcess + overSockets) / ((performance.now() - startedMs) / 1_000));
  const memory = Math.round(rss / 2 ** 20);
  console.log(`  ${inProcess} requests in process, ${overSockets} over sockets, ${rate} a second, ${memory} MiB`);
}
