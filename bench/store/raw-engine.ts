/**
 * The raw engine's own batched limit: SQLite with the same pragmas and the same rows as the embedded driver writes for a
 * new key, in one thread, 64 to a transaction, and nothing else: no conditions, no checksum, no threads, no contract.
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { configureWriter, schema } from '../../packages/store/src/drivers/embedded/schema.ts';
import { keyOf, valueBytes } from './load.ts';
import type { Throughput } from './load.ts';

export class RawEngine {
  readonly #database: DatabaseSync;

  constructor(directory: string) {
    mkdirSync(directory);
    this.#database = new DatabaseSync(join(directory, 'raw.db'));
    configureWriter(this.#database, 32 * 1024 * 1024);
    this.#database.exec(`BEGIN; ${schema} COMMIT`);
  }

  createsPerSecond(options: { puts: number; batch: number; from: number }): Throughput {
    const begin = this.#database.prepare('BEGIN IMMEDIATE');
    const commit = this.#database.prepare('COMMIT');
    const log = this.#database.prepare('INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
    const live = this.#database.prepare('INSERT INTO live VALUES (?, ?, ?)');
    const end = options.from + options.puts;
    const cpu = process.cpuUsage();
    const startedMs = performance.now();
    for (let n = options.from; n < end;) {
      begin.run();
      for (let place = 0; place < options.batch && n < end; place++, n++) {
        const key = keyOf(n);
        log.run(n + 2, n + 2, key, Buffer.alloc(valueBytes, n), n + 2, 1, null, 0, 0);
        live.run(key, n + 2, key.length + valueBytes);
      }
      commit.run();
    }
    const seconds = (performance.now() - startedMs) / 1000;
    const used = process.cpuUsage(cpu);
    return {
      perSecond: options.puts / seconds,
      cpuUs: (used.user + used.system) / options.puts,
      p50Ms: NaN,
      p99Ms: NaN,
    };
  }

  close(): void {
    this.#database.close();
  }
}
