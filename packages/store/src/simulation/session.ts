/**
 * A universe in one life of the process, for its clients: the same calls as the store, each recorded with the known revision at its start
 * and its answer. Answers to a stopped process are dropped.
 */

import { sleep } from '@hangar/core';
import type {
  CommitResult,
  KeyRange,
  LeaseId,
  RangeOptions,
  RangeResult,
  Revision,
  Store,
  Write,
} from '../contract.ts';
import { CompactedError, StoreError } from '../errors.ts';
import type { StoreErrorCode } from '../errors.ts';
import { successor } from '../keys.ts';
import type { Process } from './process.ts';
import type { Recorder } from './recorder.ts';
import { RecordedWatch } from './recorded-watch.ts';
import type { CommitRecord, CompactionRecord, Failure, Life, ReadRecord } from './records.ts';
import { describeRange, describeResult, describeWrite } from './describe.ts';
import type { Moment } from './trace.ts';
import type { Universe } from './universe.ts';
import { signedValue } from './values.ts';

/** A write whose value is made when its transaction has a number. */
export type Draft =
  | (Omit<Write & { type: 'put' }, 'value'> & { paddingBytes: number })
  | Exclude<Write, { type: 'put' }>;

export interface SessionOptions {
  universe: Universe;
  /** The store as this universe sees it. */
  view: Store;
  process: Process;
  recorder: Recorder;
  life: Life;
}

export type Answer<T> = { readonly value: T; readonly moment: Moment } | { readonly failure: Failure; moment: Moment };

const diskCodes: readonly StoreErrorCode[] = ['StorageFull', 'StorageReadOnly', 'StorageFailed'];
const writeCodes: readonly StoreErrorCode[] = ['Closed', ...diskCodes];
const readCodes: readonly StoreErrorCode[] = ['Closed', 'Compacted', 'FutureRevision'];

export class Session {
  readonly universe: Universe;
  readonly recorder: Recorder;
  readonly process: Process;
  readonly life: Life;
  readonly #view: Store;
  readonly watches = new Set<RecordedWatch>();
  /** Clients complete their current step and return. */
  stopping = false;
  /** The store is being closed: `Closed` is an answer from now on. */
  closing = false;

  constructor(options: SessionOptions) {
    this.universe = options.universe;
    this.recorder = options.recorder;
    this.process = options.process;
    this.life = options.life;
    this.#view = options.view;
  }

  sleep(delayMs: number): Promise<void> {
    return sleep(this.process.clock, delayMs);
  }

  async commit(client: string, drafts: readonly Draft[]): Promise<CommitResult | Failure> {
    const id = this.recorder.commits.length;
    const writes = drafts.map((draft, place) => writeOf(draft, { commit: id, place }));
    const call = this.#begin(`${client} #${id} commit ${writes.map(describeWrite).join(', ')}`);
    const record: CommitRecord = { ...call, id, writes, outcome: { type: 'unknown' } };
    this.recorder.commits.push(record);
    const codes: StoreErrorCode[] = [...writeCodes, 'LeaseNotFound'];
    const answer = await this.#answer(
      record,
      codes,
      () => this.#view.commit(writes),
      (result) => `#${id} ${describeResult(result)}`,
    );
    record.responded = answer.moment;
    if ('failure' in answer) {
      const { code } = answer.failure;
      if (code !== 'StorageFailed') record.outcome = { type: 'refused', code };
      return answer.failure;
    }
    const result = answer.value;
    record.outcome = { type: 'answered', result };
    const effective = result.committed && (result.deleted > 0 || writes.some((write) => write.type === 'put'));
    this.recorder.checkNotOlder(record, record.floor + (effective ? 1 : 0), { ...answer, revision: result.revision });
    this.recorder.learn(result.revision, answer.moment);
    return result;
  }

  async revision(client: string): Promise<void> {
    const call = this.#begin(`${client} revision`);
    const act = () => this.#view.revision();
    const answer = await this.#answer(call, ['Closed'], act, (revision) => `@${revision}`);
    if ('failure' in answer) return;
    this.recorder.checkNotOlder(call, call.floor, { revision: answer.value, moment: answer.moment });
    this.recorder.learn(answer.value, answer.moment);
  }

  async get(client: string, key: string, options: { atRevision?: Revision } = {}): Promise<RangeResult | Failure> {
    const record = this.#read(`${client} get ${key}`, { start: key, end: successor(key) }, options);
    return this.#readAnswer(record, async () => {
      const { entry, revision } = await this.#view.get(key, options);
      return { entries: entry ? [entry] : [], more: false, revision };
    });
  }

  range(
    client: string,
    range: KeyRange,
    options: RangeOptions & { recovery?: boolean } = {},
  ): Promise<RangeResult | Failure> {
    const { recovery = false, ...asked } = options;
    const record = this.#read(`${client} range ${describeRange(range)}`, range, asked, recovery);
    return this.#readAnswer(record, () => this.#view.range(range, asked));
  }

  async statistics(client: string, range: KeyRange, options: { atRevision?: Revision } = {}): Promise<void> {
    const record = this.#read(`${client} statistics ${describeRange(range)}`, range, options);
    const answer = await this.#answer(
      record,
      readCodes,
      () => this.#view.statistics(range, options),
      (result) => `${result.keys} keys @${result.revision}`,
    );
    record.responded = answer.moment;
    record.answer = 'failure' in answer ? answer : { statistics: answer.value, revision: answer.value.revision };
    if ('value' in answer) this.#checkRead(record, answer.value.revision, answer.moment);
  }

  watch(client: string, options: { prefix: string; from: Revision | undefined; previous: boolean; resumed: boolean }) {
    const call = this.#begin(`${client} watch '${options.prefix}' from ${options.from ?? 'now'}`);
    const watch = this.#view.watch({
      prefix: options.prefix,
      previous: options.previous,
      ...(options.from !== undefined && { fromRevision: options.from }),
    });
    const recorded = new RecordedWatch(this, client, watch, {
      ...call,
      ...options,
      deliveries: [],
      progressRequests: [],
    });
    this.recorder.watches.push(recorded.record);
    return recorded;
  }

  async compact(client: string, revision: Revision): Promise<void> {
    const record: CompactionRecord = { ...this.#begin(`${client} compact ${revision}`), revision, acknowledged: false };
    this.recorder.compactions.push(record);
    const codes: StoreErrorCode[] = [...writeCodes, 'FutureRevision'];
    const answer = await this.#answer(
      record,
      codes,
      () => this.#view.compact(revision),
      () => `compacted ${revision}`,
    );
    record.responded = answer.moment;
    record.acknowledged = 'value' in answer;
    if ('failure' in answer && answer.failure.code === 'FutureRevision' && revision <= record.floor) {
      this.recorder.fail(
        'linearizable',
        answer.moment,
        `revision ${revision} cannot be compacted, although ${record.floor} was known before`,
      );
    }
  }

  async grantLease(client: string, ttlMs: number): Promise<LeaseId | undefined> {
    const call = this.#begin(`${client} grant ${ttlMs} ms`);
    const answer = await this.#answer(
      call,
      writeCodes,
      () => this.#view.grantLease(ttlMs),
      (lease) => `lease ${lease.id}`,
    );
    if ('failure' in answer) return undefined;
    const { id } = answer.value;
    const alive = [{ since: call.invoked, untilMs: call.invoked.ms + ttlMs }];
    this.recorder.leases.set(id, { id, universe: this.universe, ttlMs, alive });
    return id;
  }

  async renewLease(client: string, id: LeaseId): Promise<boolean> {
    const call = this.#begin(`${client} renew ${id}`);
    const codes: StoreErrorCode[] = ['Closed', 'LeaseNotFound'];
    const answer = await this.#answer(
      call,
      codes,
      () => this.#view.renewLease(id),
      () => `renewed ${id}`,
    );
    if ('failure' in answer) {
      if (answer.failure.code === 'LeaseNotFound') this.checkLeaseMayBeOver(id, answer.moment);
      return false;
    }
    const lease = this.recorder.leases.get(id)!;
    lease.alive.push({ since: call.invoked, untilMs: call.invoked.ms + lease.ttlMs });
    return true;
  }

  async revokeLease(client: string, id: LeaseId): Promise<void> {
    const call = this.#begin(`${client} revoke ${id}`);
    const codes: StoreErrorCode[] = [...writeCodes, 'LeaseNotFound'];
    this.recorder.leases.get(id)!.revokedAt ??= call.invoked;
    await this.#answer(
      call,
      codes,
      () => this.#view.revokeLease(id),
      () => `revoked ${id}`,
    );
  }

  checkLeaseMayBeOver(id: LeaseId, moment: Moment): void {
    const lease = this.recorder.leases.get(id)!;
    const { untilMs } = lease.alive.at(-1)!;
    if (lease.revokedAt || moment.ms >= untilMs) return;
    this.recorder.fail('leased', moment, `lease ${id} ended ${untilMs - moment.ms} ms too early`);
  }

  /** Runs a call; an error that the contract does not name for it is a violation. */
  async #answer<T>(
    call: { invoked: Moment },
    codes: readonly StoreErrorCode[],
    act: () => Promise<T>,
    describe: (value: T) => string,
  ): Promise<Answer<T>> {
    try {
      const value = await act();
      await this.#stopWhenDead();
      return { value, moment: this.recorder.note(`  → ${call.invoked.line} ${describe(value)}`) };
    } catch (error) {
      await this.#stopWhenDead();
      const failure = this.failureOf(error, call, codes);
      return { failure, moment: this.recorder.note(`  → ${call.invoked.line} ${failure.code}`) };
    }
  }

  failureOf(error: unknown, call: { invoked: Moment }, codes: readonly StoreErrorCode[]): Failure {
    const code = (error as StoreError).code;
    const here = { line: this.recorder.trace.length, ms: call.invoked.ms };
    if (!(error instanceof StoreError) || !codes.includes(code) || (code === 'Closed' && !this.closing)) {
      this.recorder.fail(
        'recovering',
        here,
        `a call failed as it never should: ${(error as Error).stack ?? String(error)}`,
      );
    } else if (diskCodes.includes(code) && call.invoked.line > this.recorder.healedAtLine) {
      this.recorder.fail('recovering', here, `the disk is well, but a call fails with ${code}`);
    }
    return { code, ...(error instanceof CompactedError && { compactedRevision: error.compactedRevision }) };
  }

  async #stopWhenDead(): Promise<void> {
    if (this.process.dead) await new Promise(() => {});
  }

  #begin(text: string) {
    const invoked = this.recorder.note(`${this.universe.name} ${text}`);
    return { universe: this.universe, life: this.life, invoked, floor: this.recorder.known };
  }

  #read(text: string, range: KeyRange, options: RangeOptions, recovery = false): ReadRecord {
    const at = options.atRevision === undefined ? '' : ` at ${options.atRevision}`;
    const record: ReadRecord = { ...this.#begin(text + at), range, options, recovery };
    this.recorder.reads.push(record);
    return record;
  }

  async #readAnswer(record: ReadRecord, act: () => Promise<RangeResult>): Promise<RangeResult | Failure> {
    const answer = await this.#answer(
      record,
      readCodes,
      act,
      (result) => `${result.entries.length} entries @${result.revision}`,
    );
    record.responded = answer.moment;
    record.answer = 'failure' in answer ? answer : answer.value;
    if ('failure' in answer) return answer.failure;
    this.#checkRead(record, answer.value.revision, answer.moment);
    return answer.value;
  }

  #checkRead(record: ReadRecord, revision: Revision, moment: Moment): void {
    const { atRevision } = record.options;
    if (atRevision === undefined) this.recorder.checkNotOlder(record, record.floor, { revision, moment });
    else if (revision !== atRevision)
      this.recorder.fail('linearizable', moment, `asked for ${atRevision}, got ${revision}`);
    this.recorder.learn(revision, moment);
  }
}

function writeOf(draft: Draft, signature: { commit: number; place: number }): Write {
  if (draft.type !== 'put') return draft;
  const { paddingBytes, ...put } = draft;
  return { ...put, value: signedValue(signature, paddingBytes) };
}
