/** A model of etcd that executes the transactions of a replica. */

import { decodeMessage, encodeMessage, unframed } from '../testing/etcd-proto.ts';

interface Comparison {
  readonly key: string;
  /** Absent: equal. 1: greater. 2: less. */
  readonly result?: number;
  /** Absent: the version. 2: the modRevision. */
  readonly target?: number;
  readonly version?: string;
  readonly mod_revision?: string;
}

interface Operation {
  readonly range?: { readonly key: string };
  readonly put?: { readonly key: string; readonly value?: string };
  readonly delete_range?: { readonly key: string };
  readonly txn?: Transaction;
}

interface Transaction {
  readonly compare?: readonly Comparison[];
  readonly success?: readonly Operation[];
  readonly failure?: readonly Operation[];
}

export interface ModelEntry {
  readonly value: string;
  readonly created: number;
  readonly modified: number;
  readonly version: number;
}

export class EtcdModel {
  readonly entries = new Map<string, ModelEntry>();
  revision: number;

  constructor(revision: number) {
    this.revision = revision;
  }

  put(key: string, value: string): void {
    this.revision++;
    this.#put(key, value);
  }

  /** Returns the message of the response. */
  execute(frame: Buffer): Buffer {
    const before = this.revision;
    // All writes of a transaction get the next revision.
    this.revision++;
    const { isWritten, response } = this.#execute(decodeMessage('TxnRequest', unframed(frame)) as Transaction);
    if (!isWritten) this.revision = before;
    return encodeMessage('TxnResponse', { ...response, header: { revision: this.revision } });
  }

  #execute({ compare = [], success = [], failure = [] }: Transaction): { isWritten: boolean; response: object } {
    const succeeded = compare.every((comparison) => this.#holds(comparison));
    let isWritten = false;
    const responses = (succeeded ? success : failure).map(({ range, put, delete_range: remove, txn }) => {
      if (range) return { range: { kvs: this.#read(range.key) } };
      if (txn) {
        const nested = this.#execute(txn);
        isWritten ||= nested.isWritten;
        return { txn: nested.response };
      }
      isWritten = true;
      if (put) this.#put(put.key, put.value ?? '');
      else if (remove) this.entries.delete(remove.key);
      return put ? { put: {} } : { delete_range: {} };
    });
    return { isWritten, response: { succeeded, responses } };
  }

  #holds({ key, result = 0, target = 0, version = '0', mod_revision: modified = '0' }: Comparison): boolean {
    const entry = this.entries.get(key);
    const [actual, wanted] =
      target === 2 ? [entry?.modified ?? 0, Number(modified)] : [entry?.version ?? 0, Number(version)];
    return result === 0 ? actual === wanted : result === 1 ? actual > wanted : actual < wanted;
  }

  #put(key: string, value: string): void {
    const { created = this.revision, version = 0 } = this.entries.get(key) ?? {};
    this.entries.set(key, { value, created, modified: this.revision, version: version + 1 });
  }

  #read(key: string): object[] {
    const entry = this.entries.get(key);
    if (!entry) return [];
    const { created, modified, version } = entry;
    return [{ key: Buffer.from(key), create_revision: created, mod_revision: modified, version }];
  }
}
