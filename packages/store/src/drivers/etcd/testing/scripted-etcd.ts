/** A scripted server with the etcd methods that most tests need: a revision, and watches that the test feeds. */

import type { TestContext } from 'node:test';
import type { Store } from '../../../contract.ts';
import { openEtcdStore } from '../etcd-store.ts';
import type { EtcdStoreOptions } from '../etcd-store.ts';
import { decodeMessage, encodeMessage } from './etcd-proto.ts';
import { scriptedServer } from './scripted-server.ts';
import type { ScriptedCall, ScriptedServer } from './scripted-server.ts';

export interface ScriptedWatch {
  readonly call: ScriptedCall;
  readonly create: { key: string; range_end: string; start_revision: string; prev_kv?: boolean };
  /** Number of progress requests received. */
  progressRequests: number;
  send(response: object): void;
}

export class ScriptedEtcd {
  revision = 10;
  /** Handlers by the last part of the method name; absent: the answer is an empty message with a header. */
  readonly scripts: Record<string, (call: ScriptedCall, request: Buffer) => void> = {};
  /** Each call that arrived, by the last part of its name. */
  readonly calls: string[] = [];
  onProgressRequest: (watch: ScriptedWatch) => void = (watch) => watch.send({});
  readonly #watches: ScriptedWatch[] = [];
  readonly #waiting: ((watch: ScriptedWatch) => void)[] = [];
  server!: ScriptedServer;

  static async start(context: TestContext): Promise<ScriptedEtcd> {
    const etcd = new ScriptedEtcd();
    etcd.server = await scriptedServer(context, (call) => etcd.#onCall(call));
    return etcd;
  }

  /** Returns the next watch that the store opens; it is confirmed already. */
  nextWatch(): Promise<ScriptedWatch> {
    const watch = this.#watches.shift();
    return watch ? Promise.resolve(watch) : new Promise((resolve) => this.#waiting.push(resolve));
  }

  header(revision = this.revision): object {
    return { header: { cluster_id: 1, member_id: 2, revision, raft_term: 3 } };
  }

  #onCall(call: ScriptedCall): void {
    const name = call.method.slice(call.method.lastIndexOf('/') + 1);
    this.calls.push(name);
    if (name === 'Watch') return this.#onWatch(call);
    const answer = this.scripts[name] ?? (() => call.answer(encodeMessage('RangeResponse', this.header())));
    call.onMessage = (request) => answer(call, request);
  }

  #onWatch(call: ScriptedCall): void {
    let watch: ScriptedWatch | undefined;
    call.onMessage = (message) => {
      const request = decodeMessage('WatchRequest', message);
      if (watch) {
        watch.progressRequests++;
        this.onProgressRequest(watch);
        return;
      }
      const send = (response: object) => call.send(encodeMessage('WatchResponse', { ...this.header(), ...response }));
      watch = { call, create: request['create'] as ScriptedWatch['create'], progressRequests: 0, send };
      send({ created: true });
      const waiting = this.#waiting.shift();
      if (waiting) waiting(watch);
      else this.#watches.push(watch);
    };
  }
}

/** Closed with the test. */
export async function openScripted(
  context: TestContext,
  servers: ScriptedEtcd | readonly ScriptedEtcd[],
  options: Partial<EtcdStoreOptions> = {},
): Promise<Store> {
  const endpoints = [servers].flat().map((etcd) => etcd.server.url);
  const store = await openEtcdStore({ endpoints, requestTimeoutMs: 10_000, ...options });
  context.after(() => store.close());
  return store;
}

export function putEvent(key: string, revision: number, options: { created?: number; previous?: string } = {}): object {
  const { created = revision, previous } = options;
  const kv = { key: Buffer.from(key), create_revision: created, mod_revision: revision, version: 1 };
  const value = Buffer.from(`${key}@${revision}`);
  if (previous === undefined) return { kv: { ...kv, value } };
  return { kv: { ...kv, value }, prev_kv: { ...kv, mod_revision: revision - 1, value: Buffer.from(previous) } };
}
