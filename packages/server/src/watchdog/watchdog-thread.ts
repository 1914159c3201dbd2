/**
 * The watchdog thread. While beats arrive, it compares two numbers every 25 ms. When a beat is late, it interrupts the watched thread
 * through the inspector, the only way to interrupt a busy thread, and takes a sample. An activity that has used 100 ms of CPU time there is
 * journalled until beats arrive again. It sleeps while the watched thread is idle.
 */

import { Session } from 'node:inspector';
import { parentPort, workerData } from 'node:worker_threads';
import { beatEveryMs, stallMs, suspectAfterMs } from './contract.ts';
import type { Sample, WatchdogThreadData } from './contract.ts';
import { CrashJournal } from './crash-journal.ts';
import { Sampler } from './sampler.ts';
import type { SamplerSession } from './sampler.ts';
import { SharedBeat, sharedClockMs } from './shared-beat.ts';

const lookEveryMs = 25;
/** An activity that fills this part of the heap within one slice counts as the cause of a crash. */
const heapGrowthMax = 0.2;

const { beat: buffer, journalFile } = workerData as WatchdogThreadData;
const beat = new SharedBeat(buffer);
const journal =
  journalFile === undefined ? undefined : new CrashJournal(journalFile, (error) => parentPort!.postMessage(error));
const sampler = new Sampler({ connect: connected, onSample: sampled });
/** The first sample of the current activity since the last beat. */
let first: Sample | undefined;

const timer = setInterval(look, lookEveryMs);

function look(): void {
  if (beat.isAsleep) sampler.close();
  beat.waitForStart();
  if (beat.isEnding) return leave();
  const { count, atMs } = beat.read();
  if (first && first.count !== count) {
    first = undefined;
    journal?.clear();
  }
  const nowMs = sharedClockMs();
  sampler.look(nowMs, count > 0 && nowMs - atMs > beatEveryMs + suspectAfterMs);
}

function connected(): SamplerSession {
  const made = new Session();
  made.connectToMainThread();
  return made;
}

function leave(): void {
  clearInterval(timer);
  sampler.close();
}

function sampled(sample: Sample): void {
  const { activity, count, heapUse, cpuMs } = sample;
  if (count !== beat.count || beat.isEnding) return;
  if (first?.activity?.id !== activity?.id) first = sample;
  first ??= sample;
  const isCertain = heapUse - first.heapUse >= heapGrowthMax;
  // On a busy machine every activity may run for long: only its CPU time shows how much it does.
  const isLong = isCertain || cpuMs - first.cpuMs >= stallMs;
  if (!activity?.isAccountable || !isLong) return void journal?.clear();
  const reason = isCertain
    ? `the heap grew from ${percent(first.heapUse)} to ${percent(heapUse)} of its limit`
    : 'the process exited without a shutdown';
  journal?.write({ activity, at: Date.now(), isCertain, reason });
}

const percent = (part: number): string => `${Math.round(part * 100)}%`;
