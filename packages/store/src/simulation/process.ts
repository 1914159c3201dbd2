/**
 * A process that can be killed: its timers never fire again and its disk calls never return, so that a store of an earlier life cannot
 * affect the world. It gets no notification, like a machine without power.
 */

import { chance, sleep } from '@hangar/core';
import type { Clock, Disk, DiskFile, Random, Timer } from '@hangar/core';

const breathMaxMs = 0.3;

export interface ProcessOptions {
  clock: Clock;
  disk: Disk;
  random: Random;
  diskLatencyMaxMs: number;
  diskErrorRate: number;
}

export class Process {
  readonly #options: ProcessOptions;
  readonly #timers = new Set<Timer>();
  readonly #died = Promise.withResolvers<void>();
  #calls = 0;
  dead = false;
  diskErrorRate: number;
  /** Kill the process in the middle of this disk call, counted from 1. */
  dieAtCall = Infinity;
  /** Every disk call from this one on fails: the next process finds the state that the last successful call left. */
  diskBreaksAtCall = Infinity;

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.diskErrorRate = options.diskErrorRate;
  }

  get died(): Promise<void> {
    return this.#died.promise;
  }

  get diskMayFail(): boolean {
    return this.diskErrorRate > 0 || this.diskBreaksAtCall < Infinity;
  }

  kill(): void {
    if (this.dead) return;
    this.dead = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#died.resolve();
  }

  readonly clock: Clock = {
    now: () => this.#options.clock.now(),
    monotonicMs: () => this.#options.clock.monotonicMs(),
    after: (delayMs, callback) => this.#after(delayMs, callback),
    // A yield lets others run, sometimes long enough for a whole commit.
    soon: (callback) => this.#after(this.#options.random.fraction() * breathMaxMs, callback),
  };

  readonly disk: Disk = {
    open: async (path, options) =>
      this.#file(await this.#call('open', path, () => this.#options.disk.open(path, options))),
    list: (directory) => this.#call('list', directory, () => this.#options.disk.list(directory)),
    rename: (from, to) => this.#call('rename', from, () => this.#options.disk.rename(from, to)),
    remove: (path) => this.#call('remove', path, () => this.#options.disk.remove(path)),
    syncDirectory: (directory) =>
      this.#call('syncDirectory', directory, () => this.#options.disk.syncDirectory(directory)),
  };

  #file(file: DiskFile): DiskFile {
    return {
      read: (offset, length) => this.#call('read', '', () => file.read(offset, length)),
      write: (offset, bytes) => {
        // A write that fails may have written some of its bytes.
        const part = bytes.slice(0, this.#options.random.below(bytes.length + 1));
        return this.#call(
          'write',
          '',
          () => file.write(offset, bytes),
          () => file.write(offset, part),
        );
      },
      truncate: (length) => this.#call('truncate', '', () => file.truncate(length)),
      size: () => this.#call('size', '', () => file.size()),
      // A failed sync may have succeeded on the disk.
      sync: () =>
        this.#call(
          'sync',
          '',
          () => file.sync(),
          () => (chance(this.#options.random, 0.3) ? file.sync() : Promise.resolve()),
        ),
      close: () => file.close(),
    };
  }

  async #call<T>(name: string, path: string, act: () => Promise<T>, actInPart?: () => Promise<void>): Promise<T> {
    const { random } = this.#options;
    const fatal = ++this.#calls === this.dieAtCall;
    if (fatal && chance(random, 0.5)) this.kill();
    await this.#wait();
    if (this.#calls >= this.diskBreaksAtCall || chance(random, this.diskErrorRate)) {
      await actInPart?.().catch(() => {});
      throw Object.assign(new Error(`EIO: ${name} '${path}'`), { code: 'EIO', syscall: name });
    }
    const result = await act();
    if (fatal) this.kill();
    // The effect comes before the answer: after a crash between the two, the caller does not know the outcome.
    await this.#wait();
    return result;
  }

  #wait(): Promise<void> {
    return sleep(this.clock, (this.#options.random.fraction() * this.#options.diskLatencyMaxMs) / 2);
  }

  #after(delayMs: number, callback: () => void): Timer {
    if (this.dead) return { cancel: () => {} };
    const timer = this.#options.clock.after(delayMs, () => {
      this.#timers.delete(timer);
      callback();
    });
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
        timer.cancel();
      },
    };
  }
}
