/** A watch whose deliveries, marks and end are recorded. */

import type { Watch, WatchBatch } from '../contract.ts';
import type { StoreError } from '../errors.ts';
import { describeBatch } from './describe.ts';
import type { Failure, WatchRecord } from './records.ts';
import type { Session } from './session.ts';
import type { Moment } from './trace.ts';

export class RecordedWatch {
  readonly record: WatchRecord;
  readonly #session: Session;
  readonly #client: string;
  readonly #watch: Watch;

  constructor(session: Session, client: string, watch: Watch, record: WatchRecord) {
    this.#session = session;
    this.#client = client;
    this.#watch = watch;
    this.record = record;
    session.watches.add(this);
  }

  /** Undefined after `close`. */
  async next(): Promise<WatchBatch | Failure | undefined> {
    const { recorder, process } = this.#session;
    try {
      const batch = await this.#watch.next();
      if (process.dead) await new Promise(() => {});
      if (!batch) return undefined;
      const moment = recorder.note(`${this.#client} watch ${this.record.invoked.line}: ${describeBatch(batch)}`);
      this.record.deliveries.push({ moment, batch });
      recorder.learn(batch.revision, moment);
      return batch;
    } catch (error) {
      if (process.dead) await new Promise(() => {});
      const failure = this.#session.failureOf(error, this.record, ['Closed', 'Compacted']);
      const moment = recorder.note(`${this.#client} watch ${this.record.invoked.line}: ${failure.code}`);
      this.record.failure = { ...failure, moment };
      this.#session.watches.delete(this);
      await this.#staysFailed(failure, moment);
      return failure;
    }
  }

  requestProgress(): void {
    const { recorder } = this.#session;
    const moment = recorder.note(`${this.#client} watch ${this.record.invoked.line}: asks for progress`);
    this.record.progressRequests.push({ moment, floor: recorder.known });
    this.#watch.requestProgress();
  }

  async close(): Promise<void> {
    const { recorder, process } = this.#session;
    const moment = recorder.note(`${this.#client} watch ${this.record.invoked.line}: closes`);
    this.#watch.close();
    this.#session.watches.delete(this);
    // A rejection is one that came before the close and stays.
    const late = await this.#watch.next().catch(() => undefined);
    if (late && !process.dead) recorder.fail('reliable', moment, 'a batch comes after the watch was closed');
  }

  async #staysFailed({ code }: Failure, moment: Moment): Promise<void> {
    const again = await this.#watch.next().then(
      () => 'an answer',
      (error: StoreError) => error.code,
    );
    if (again === code || this.#session.process.dead) return;
    this.#session.recorder.fail('reliable', moment, `a watch that ended with ${code} goes on with ${again}`);
  }
}
