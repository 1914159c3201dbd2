/**
 * Decodes the lines of a stream to calls of a listener.
 *
 *     {"type":"hello","session":"…"}                                        the first one
 *     {"type":"tenant","cluster":"a"}            + a line: the Tenant
 *     {"type":"put","cluster":"a","group":"", …} + a line: the object       also "delete"
 *     {"type":"synced"} {"type":"reset"} {"type":"told","cluster":"a","mark":7} {"type":"gone","cluster":"a"} {"type":"ping"}
 */

import type { KubeObject } from '@hangar/api';
import { ClientError } from '@hangar/client';
import type { FeedListener, ResourceId } from '../contract.ts';
import { ByteLines } from './byte-lines.ts';
import { RemoteChange } from './remote-change.ts';
import type { ChangeHead } from './remote-change.ts';
import type { Retelling } from './retelling.ts';

export interface ToldLinesOptions {
  readonly listener: FeedListener;
  /** The existing control planes; updated here. */
  readonly clusters: Set<string>;
  readonly retelling: Pick<Retelling, 'isLast' | 'forget' | 'clear'>;
  /** Called when the stream starts, before any event. */
  onHello(session: string): void;
  onSynced(): void;
}

/** Any line that is not an object. */
interface Head extends Partial<Omit<ChangeHead, 'type'>> {
  readonly type?: unknown;
  readonly session?: unknown;
  readonly mark?: unknown;
}

/** Stands for a change whose second line is skipped. */
const unwanted: Head = {};
/** Tenants choose the names of their kinds: above this number, the cache of `wants` is cleared. */
const wantsMax = 10_000;

export class ToldLines {
  readonly #options: ToldLinesOptions;
  readonly #lines = new ByteLines();
  /** By resource and group. */
  readonly #wants = new Map<string, boolean>();
  #hasBegun = false;
  /** Header whose second line comes next. */
  #head: Head | undefined;
  readonly #take = (line: Buffer): void => {
    const head = this.#head;
    if (!head) return this.#first(line);
    this.#head = undefined;
    this.#second(head, line);
  };

  constructor(options: ToldLinesOptions) {
    this.#options = options;
  }

  /** Throws `MalformedAnswer` for a malformed stream. */
  push(chunk: Uint8Array): void {
    this.#lines.push(chunk, this.#take);
  }

  #first(line: Buffer): void {
    const head = headOf(line);
    if (!this.#hasBegun) return this.#hello(head);
    const { listener, clusters, retelling } = this.#options;
    switch (head.type) {
      case 'put':
      case 'delete':
        return this.#change(insistOnChange(head));
      case 'tenant':
        this.#head = head;
        return void clusterOf(head);
      case 'told':
        if (retelling.isLast(clusterOf(head), head.mark)) listener.clusterTold(clusterOf(head));
        return;
      case 'gone':
        clusters.delete(clusterOf(head));
        retelling.forget(clusterOf(head));
        return listener.clusterGone(clusterOf(head));
      case 'synced':
        this.#options.onSynced();
        return listener.synced();
      case 'reset':
        clusters.clear();
        retelling.clear();
        return listener.reset();
      case 'ping':
        return;
      default:
        throw malformed(`a line of unknown type ${JSON.stringify(head.type)}`);
    }
  }

  #hello({ type, session }: Head): void {
    if (type !== 'hello' || typeof session !== 'string') throw malformed('no hello in its first line');
    this.#hasBegun = true;
    this.#options.onHello(session);
  }

  #change(head: ChangeHead): void {
    const isWanted = this.#isWanted(head);
    this.#head = isWanted ? head : unwanted;
    if (!isWanted) this.#lines.skipNext();
  }

  #second(head: Head, line: Buffer): void {
    const { listener, clusters } = this.#options;
    if (head === unwanted) return;
    if (head.type !== 'tenant') return listener.changed(new RemoteChange(head as ChangeHead, line));
    const cluster = clusterOf(head);
    const tenant = parsed(line) as KubeObject;
    clusters.add(cluster);
    listener.clusterChanged(cluster, tenant);
  }

  #isWanted({ group, resource }: ResourceId): boolean {
    const key = `${resource}.${group}`;
    let isWanted = this.#wants.get(key);
    if (isWanted === undefined) {
      if (this.#wants.size >= wantsMax) this.#wants.clear();
      this.#wants.set(key, (isWanted = this.#options.listener.wants({ group, resource })));
    }
    return isWanted;
  }
}

const malformed = (what: string, cause?: unknown): ClientError =>
  new ClientError('MalformedAnswer', `the tenant feed has ${what}`, { cause });

function parsed(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString());
  } catch (error) {
    throw malformed('a line that is not valid JSON', error);
  }
}

function headOf(line: Buffer): Head {
  const value = parsed(line);
  if (typeof value !== 'object' || value === null) throw malformed('a line that is not an object');
  return value;
}

function clusterOf({ cluster }: Head): string {
  if (typeof cluster !== 'string') throw malformed('a line without a cluster');
  return cluster;
}

const texts = ['cluster', 'group', 'resource', 'namespace', 'name', 'resourceVersion'] as const;

function insistOnChange(head: Head): ChangeHead {
  for (const name of texts) if (typeof head[name] !== 'string') throw malformed(`a change without ${name}`);
  return head as ChangeHead;
}
