/**
 * WATCH: sends the store's events of one prefix as frames. An event is encoded once for all watchers of the same format. A watcher that
 * does not keep up stops reading, and the store serves it from history, or ends it with 410 if that was compacted.
 */

import { encodeProtobuf, encodeWatchFrame, expired, StatusError } from '@hangar/api';
import { notAcceptable, internalError } from '@hangar/api';
import type { JsonObject, KubeObject, Status } from '@hangar/api';
import { asError, hasCode, Slicer } from '@hangar/core';
import type { Visibility } from '../auth/visibility.ts';
import type { Entry, Revision, StoreEvent, Watch, WatchBatch, WatchOptions } from '@hangar/store';
import { tables } from '../objects/tables.ts';
import { collectionPrefix, objectKey } from '../control-plane.ts';
import type { Answer, Sink } from '../http/message.ts';
import { Output } from '../http/output.ts';
import type { EventSeries } from '../metrics/watch-metrics.ts';
import { includeObjectOf, metaVersion, shownObject, tableOptions, wantedBy } from '../objects/answers.ts';
import { parseResourceVersion, untilReached } from '../objects/resource-version.ts';
import type { Wanted } from '../request/media.ts';
import { namespaceOf } from './call.ts';
import type { Call } from './call.ts';
import { isKeySegment, safeNamespace } from './list-page.ts';
import { readVisiblePage } from './visible.ts';
import { listOptions, selects, selectsAll } from './list-options.ts';
import type { ListOptions } from './list-options.ts';

type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** Without a timeout of the client, watches end after half an hour to an hour, so that they spread over replicas. */
const timeoutMinSeconds = 1_800;
const bookmarkEveryMs = 60_000;
/** A watch sends a bookmark before it ends, so that its client can resume from a recent revision. */
const bookmarkBeforeEndMs = 2_000;

/** Objects that exist when a watch starts, in pages, as of one revision. */
export interface InitialState {
  readonly pages: Iterable<readonly Entry[]> | AsyncIterable<readonly Entry[]>;
  readonly revision: Revision;
}

/** A progress mark whose bookmark has annotations. */
export interface AnnotatedBatch extends WatchBatch {
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Sources of a watch that does not follow one collection. */
export interface WatchWays {
  readonly want: Wanted;
  readonly initial: (call: Call, options: ListOptions) => Promise<InitialState>;
}

async function ofCollection(call: Call, options: ListOptions): Promise<InitialState> {
  const { entries, revision } = await readVisiblePage(call, options);
  return { pages: [entries], revision };
}

export const watch = (call: Call): Promise<Answer> => watchBy(call, { want: wantedBy(call), initial: ofCollection });

export async function watchBy(call: Call, { want, initial }: WatchWays): Promise<Answer> {
  if (want.format === 'yaml') throw notAcceptable('a watch supports JSON or protobuf only');
  const options = listOptions(call.query, call.resource, true, call.info.name);
  const stream = new WatchStream(call, options, want);
  await stream.prepare(initial);
  const contentType = want.format === 'protobuf' ? `${want.contentType};stream=watch` : want.contentType;
  return {
    status: 200,
    headers: { 'content-type': contentType, 'cache-control': 'no-cache, private' },
    body: { start: (sink) => void stream.run(sink) },
  };
}

/** Frames of one store event, by format. Shared, because the store shares its events. */
const framesOf = new WeakMap<StoreEvent, Map<string, Uint8Array>>();
/** Parsed objects for selectors, by apiVersion: versions name fields differently. */
const objectsOf = new WeakMap<StoreEvent, Map<string, ParsedEvent>>();

interface ParsedEvent {
  readonly object?: KubeObject;
  readonly previous?: KubeObject;
}

class WatchStream {
  readonly #call: Call;
  readonly #options: ListOptions;
  readonly #want: Wanted;
  /** Identifies this stream's format among the frames of an event. */
  readonly #form: string;
  #initial: InitialState['pages'] = [];
  #initialRevision: Revision | undefined;
  #source!: WatchOptions;
  #isFirstTable: boolean;
  readonly #slicer: Slicer;
  readonly #series: EventSeries;

  constructor(call: Call, options: ListOptions, want: Wanted) {
    this.#call = call;
    this.#options = options;
    this.#want = want;
    this.#isFirstTable = want.shape === 'Table';
    this.#slicer = new Slicer(call.plane.clock);
    this.#series = call.plane.metrics.watches.of(call.resource);
    const include = want.shape === 'Table' ? includeObjectOf(call) : '';
    this.#form = `${call.resource.apiVersion} ${want.format} ${want.shape ?? ''} ${include}`;
  }

  /** Reports all errors before the response starts. */
  async prepare(initial: WatchWays['initial']): Promise<void> {
    const { plane } = this.#call;
    const asked = parseResourceVersion(this.#options.resourceVersion);
    let from = asked;
    const wantsInitial = this.#options.sendInitialEvents ?? asked === 0;
    if (wantsInitial) {
      await untilReached(plane, asked);
      const all = { ...this.#options, limit: 0, continueToken: '', resourceVersion: '', resourceVersionMatch: '' };
      const { pages, revision } = await initial(this.#call, all);
      this.#initial = pages;
      from = revision;
      this.#initialRevision = revision;
    } else if (asked === 0) from = await plane.store.revision();
    this.#source = { prefix: this.#prefix(), fromRevision: (from + 1) as Revision, previous: true };
  }

  #prefix(): string {
    const { plane, resource } = this.#call;
    const { fields } = this.#options;
    const namespace = namespaceOf(this.#call) || safeNamespace(fields?.requiresNamespace);
    const isOne = isKeySegment(fields?.requiresName) && (namespace !== '' || !resource.namespaced);
    // The store matches prefixes: the selector filters keys that only start like this one.
    return isOne
      ? objectKey(plane, resource, namespace, fields!.requiresName!)
      : collectionPrefix(plane, resource, namespace);
  }

  async run(sink: Sink): Promise<void> {
    const output = new Output(sink);
    // The client has disconnected, or requested only the head.
    if (output.isOver) return;
    try {
      await this.#follow(sink, output);
    } catch (error) {
      // Closing a control plane ends its watches like a timeout: clients resume when it is opened again. After its data was replaced, they
      // must list again.
      const isOver = hasCode(error, 'Closed');
      if (!isOver) output.write(this.#encode('ERROR', statusOf(error)));
    } finally {
      sink.end();
    }
  }

  async #follow(sink: Sink, output: Output): Promise<void> {
    const { plane } = this.#call;
    const from = (this.#source.fromRevision! - 1) as Revision;
    // Opened only now: a response that never starts would leave it open.
    const watch = plane.store.watch(this.#source);
    const timeoutMs = this.#timeoutMs();
    const timeout = plane.clock.after(timeoutMs, () => {
      watch.close();
      // Also if the client does not read: pending data has its own timeout from here on.
      output.stop();
    });
    sink.onClose(() => watch.close());
    const { visibility } = this.#call;
    const unfollow = visibility?.onChange(() => watch.close());
    const bookmarks = this.#options.allowsBookmarks ? this.#askForBookmarks(watch, timeoutMs) : undefined;
    try {
      if (visibility) await this.#insistOnRights(visibility, from);
      await this.#sendInitial(output);
      for (let batch = await watch.next(); batch; batch = await watch.next()) {
        if (visibility) await this.#insistOnRights(visibility, from, batch.revision);
        this.#slicer.restart();
        if (batch.events.length === 0 && this.#options.allowsBookmarks) {
          output.write(this.#bookmark(batch.revision, (batch as AnnotatedBatch).annotations));
        }
        for (const event of batch.events) {
          const frame = this.#frame(event, batch.revision);
          if (frame) this.#send(output, frame);
          const paused = this.#slicer.pause();
          if (paused) await paused;
          // After a timeout the batch is completed: a client that resumes from its revision would miss the rest of it.
          if (output.isClosed) return;
        }
        if (output.isFull) await output.drained();
      }
      if (visibility) await this.#insistOnRights(visibility, from);
    } finally {
      unfollow?.();
      timeout.cancel();
      bookmarks?.();
      watch.close();
    }
  }

  /** Rejects with 410 if the rights of the user changed after revision `from`, as far as known at revision `at`. */
  async #insistOnRights(visibility: Visibility, from: Revision, at = from): Promise<void> {
    await visibility.reached(at);
    if (visibility.changedSince(from)) throw expired('The objects that the user may see have changed: list again.');
  }

  #timeoutMs(): number {
    const asked = this.#options.timeoutSeconds;
    if (asked !== undefined && asked > 0) return Math.min(asked, 86_400) * 1_000;
    return timeoutMinSeconds * (1 + this.#call.plane.random.fraction()) * 1_000;
  }

  #askForBookmarks(watch: Watch, timeoutMs: number): () => void {
    const { clock } = this.#call.plane;
    let timer = clock.after(bookmarkEveryMs, function ask() {
      watch.requestProgress();
      timer = clock.after(bookmarkEveryMs, ask);
    });
    const last =
      timeoutMs > bookmarkBeforeEndMs
        ? clock.after(timeoutMs - bookmarkBeforeEndMs, () => watch.requestProgress())
        : undefined;
    return () => {
      timer.cancel();
      last?.cancel();
    };
  }

  async #sendInitial(output: Output): Promise<void> {
    const objectOf = (entry: Entry): KubeObject => this.#shownObject(entry, entry.modRevision);
    this.#slicer.restart();
    for await (const page of this.#initial) {
      for (const entry of page) {
        this.#send(output, this.#encodeEntry('ADDED', entry, entry.modRevision, objectOf));
        const paused = this.#slicer.pause();
        if (paused) await paused;
        if (output.isFull) await output.drained();
        if (output.isOver) return;
      }
    }
    this.#initial = [];
    if (this.#options.sendInitialEvents && this.#options.allowsBookmarks) {
      output.write(this.#bookmark(this.#initialRevision!, { 'k8s.io/initial-events-end': 'true' }));
    }
  }

  #send(output: Output, frame: Uint8Array): void {
    this.#series.events.value++;
    this.#series.sizes.observe(frame.length);
    output.write(frame);
  }

  /** Returns undefined if the event is not for this watcher. */
  #frame(event: StoreEvent, revision: Revision): Uint8Array | undefined {
    const type = this.#typeFor(event);
    if (type === undefined) return undefined;
    const form = this.#isFirstTable ? `${this.#form} first` : this.#form;
    let frames = framesOf.get(event);
    if (!frames) framesOf.set(event, (frames = new Map()));
    const key = `${type} ${form}`;
    let frame = frames.get(key);
    if (!frame) {
      const entry = event.type === 'put' && type !== 'DELETED' ? event.entry : event.previous!;
      frame = this.#encodeEntry(type, entry, revision, () => this.#object(event, type, revision));
      frames.set(key, frame);
    }
    this.#isFirstTable = false;
    return frame;
  }

  /** An object that starts to match is ADDED, one that no longer matches is DELETED, regardless of the original event. */
  #typeFor(event: StoreEvent): EventType | undefined {
    const { visibility } = this.#call;
    if (!visibility && selectsAll(this.#options)) {
      if (event.type === 'delete') return event.previous ? 'DELETED' : undefined;
      return event.previous ? 'MODIFIED' : 'ADDED';
    }
    const { object, previous } = this.#parsed(event);
    const isShown = (one: KubeObject | undefined): boolean =>
      one !== undefined && (visibility?.isVisible(one) ?? true) && selects(this.#options, one);
    const [isSelected, wasSelected] = [isShown(object), isShown(previous)];
    if (isSelected) return wasSelected ? 'MODIFIED' : 'ADDED';
    return wasSelected ? 'DELETED' : undefined;
  }

  #parsed(event: StoreEvent): ParsedEvent {
    const { stored, apiVersion } = this.#call.resource;
    let versions = objectsOf.get(event);
    if (!versions) objectsOf.set(event, (versions = new Map()));
    let parsed = versions.get(apiVersion);
    if (!parsed) {
      parsed = {
        ...(event.type === 'put' ? { object: stored.object(event.entry) } : {}),
        ...(event.previous ? { previous: stored.object(event.previous) } : {}),
      };
      versions.set(apiVersion, parsed);
    }
    return parsed;
  }

  /** A deleted object is shown in its last state, with the revision of its deletion. */
  #object(event: StoreEvent, type: EventType, revision: Revision): KubeObject {
    return event.type === 'put' && type !== 'DELETED'
      ? this.#shownObject(event.entry, event.entry.modRevision)
      : this.#shownObject(event.previous!, revision);
  }

  #shownObject(entry: Entry, revision: Revision): KubeObject {
    return shownObject(this.#call, this.#want, entry, revision);
  }

  #encodeEntry(type: EventType, entry: Entry, revision: Revision, object: (entry: Entry) => KubeObject): Uint8Array {
    if (this.#want.format === 'json' && this.#want.shape === undefined) {
      return jsonFrame(type, this.#call.resource.stored.json(entry, type === 'DELETED' ? revision : entry.modRevision));
    }
    return this.#encode(type, this.#inShape(object(entry)));
  }

  #inShape(object: KubeObject): object {
    switch (this.#want.shape) {
      case undefined:
        return object;
      case 'Table': {
        const withColumns = this.#isFirstTable;
        this.#isFirstTable = false;
        const options = { ...tableOptions(this.#call, this.#want), withColumns };
        return tables().tableOfOne(this.#call.resource.table, object, options);
      }
      default:
        return tables().partialObjectMetadata(object, metaVersion(this.#want));
    }
  }

  #bookmark(revision: Revision, annotations?: Readonly<Record<string, string>>): Uint8Array {
    const { kind, apiVersion } = this.#call.resource;
    const metadata = { resourceVersion: String(revision), ...(annotations ? { annotations } : {}) };
    const object: KubeObject = { kind, apiVersion, metadata };
    return this.#encode('BOOKMARK', this.#inShape(object));
  }

  #encode(type: EventType, object: object): Uint8Array {
    if (this.#want.format === 'protobuf') return encodeWatchFrame(type, encodeProtobuf(object as JsonObject));
    return jsonFrame(type, Buffer.from(`${JSON.stringify(object)}\n`));
  }
}

/** The object has a trailing newline, which is replaced by the end of the event. */
function jsonFrame(type: EventType, object: Uint8Array): Buffer {
  const head = `{"type":"${type}","object":`;
  const frame = Buffer.allocUnsafe(head.length + object.length + 1);
  frame.write(head, 0, 'latin1');
  frame.set(object, head.length);
  frame.write('}\n', head.length + object.length - 1, 'latin1');
  return frame;
}

function statusOf(error: unknown): Status {
  if (hasCode(error, 'Fenced')) return expired('the control plane was deleted or its data was replaced').status;
  if (error instanceof StatusError) return error.status;
  if (hasCode(error, 'Compacted')) return expired('The resourceVersion for the provided watch is too old.').status;
  return internalError(asError(error)).status;
}
