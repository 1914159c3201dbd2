/** Lists all control planes. A long list is sent while it is read: only one page is in memory. */

import { asError } from '@hangar/core';
import type { Entry, Revision } from '@hangar/store';
import type { Answer, Sink } from '../../http/message.ts';
import { Output } from '../../http/output.ts';
import { bytesAnswer } from '../../objects/answers.ts';
import { untilReached } from '../../objects/resource-version.ts';
import type { Wanted } from '../../request/media.ts';
import type { Call } from '../../verbs/call.ts';
import { encodeContinue } from '../../verbs/continue-token.ts';
import { listEnd, listHead, pageAnswer } from '../../verbs/list.ts';
import { listOptions, selectsAll } from '../../verbs/list-options.ts';
import type { ListOptions } from '../../verbs/list-options.ts';
import { entriesAtOnce, isSelected, listError, startOf } from '../../verbs/list-page.ts';
import type { Page } from '../../verbs/list-page.ts';
import type { Place } from './place.ts';
import type { Position } from './snapshot.ts';
import type { Wildcard } from './wildcard.ts';

export interface ListContext {
  readonly wildcard: Wildcard;
  readonly want: Wanted;
  readonly place: (options: ListOptions) => Place;
  readonly onError: (error: Error) => void;
}

export async function listAll(call: Call, context: ListContext): Promise<Answer> {
  const { wildcard, want } = context;
  const options = listOptions(call.query, call.resource, false);
  const place = context.place(options);
  // Positions consist of the control plane and the key below the place; the slash is the common prefix.
  const start = startOf(options, '/');
  await untilReached(call.plane, start.needed);
  const revision = start.revision ?? (await wildcard.store.revision());
  const from = positionIn(start.range.start.slice(1));
  const reader = new Reader(wildcard.entries(place, revision, from), call, options);
  try {
    // A page is sent at once; of a long list, the first thousand entries are read before the head is sent, to return early errors.
    const isWhole = options.limit > 0 || want.format !== 'json' || want.shape !== undefined;
    const entries = await reader.take(options.limit > 0 ? options.limit : isWhole ? Infinity : entriesAtOnce);
    const next = await reader.peek();
    const metadata: Page['metadata'] = { resourceVersion: String(revision) };
    if (!next) return pageAnswer(call, want, { entries, revision, metadata });
    if (!isWhole) return streamed(call, context, { entries, revision, metadata }, reader);
    metadata.continue = encodeContinue({ start: textOf(wildcard.positionOf(next, place)), revision });
    await reader.close();
    return pageAnswer(call, want, { entries, revision, metadata });
  } catch (error) {
    await reader.close();
    throw listError(error, options, '/', start.range);
  }
}

const textOf = ({ cluster, key }: Position): string => `${cluster}/${key}`;

function positionIn(text: string): Position {
  const slash = text.indexOf('/');
  return slash < 0 ? { cluster: text, key: '' } : { cluster: text.slice(0, slash), key: text.slice(slash + 1) };
}

function streamed(call: Call, context: ListContext, first: Page, reader: Reader): Answer {
  return {
    ...bytesAnswer(200, context.want.contentType, [], call.warnings),
    body: { isFinite: true, start: (sink) => void send(call, context, first, reader, sink) },
  };
}

async function send(call: Call, context: ListContext, first: Page, reader: Reader, sink: Sink): Promise<void> {
  const { stored } = call.resource;
  const { clock } = call.plane;
  const output = new Output(sink);
  try {
    if (!output.isOver) {
      // Items first: for a custom resource they determine the kind.
      const items = stored.items(first.entries);
      output.write(listHead(call.resource, first));
      await output.send(items, clock);
    }
    while (!output.isOver) {
      const entries = await reader.take(entriesAtOnce);
      if (entries.length === 0) break;
      output.write(Buffer.from(','));
      await output.send(stored.items(entries), clock);
    }
    if (!output.isOver) output.write(listEnd);
    sink.end();
  } catch (error) {
    // The head is already sent, so an incomplete list can only be reported by aborting the response.
    context.onError(asError(error));
    output.abort();
  } finally {
    await reader.close();
  }
}

/** Iterates over the selected entries. */
class Reader {
  readonly #pages: AsyncGenerator<readonly Entry[], void, void>;
  readonly #call: Call;
  readonly #options: ListOptions;
  #page: readonly Entry[] = [];
  #at = 0;

  constructor(pages: AsyncGenerator<readonly Entry[], void, void>, call: Call, options: ListOptions) {
    this.#pages = pages;
    this.#call = call;
    this.#options = options;
  }

  /** Returns up to `count` entries. */
  async take(count: number): Promise<Entry[]> {
    const taken: Entry[] = [];
    while (taken.length < count) {
      const entry = this.#here() ?? (await this.peek());
      if (!entry) break;
      taken.push(entry);
      this.#at++;
    }
    return taken;
  }

  /** Returns the next selected entry, or undefined at the end. */
  async peek(): Promise<Entry | undefined> {
    for (;;) {
      const entry = this.#here();
      if (entry) return entry;
      const { value, done } = await this.#pages.next();
      if (done) return undefined;
      [this.#page, this.#at] = [value, 0];
    }
  }

  /** Returns the next selected entry of the current page. */
  #here(): Entry | undefined {
    for (; this.#at < this.#page.length; this.#at++) {
      const entry = this.#page[this.#at]!;
      if (isSelected(this.#options, this.#call.resource, entry)) return entry;
    }
    return undefined;
  }

  async close(): Promise<void> {
    await this.#pages.return();
  }
}

/** Returns the initial state of a watch. */
export async function initialState(
  call: Call,
  options: ListOptions,
  wildcard: Wildcard,
  place: Place,
): Promise<{ pages: AsyncIterable<readonly Entry[]>; revision: Revision }> {
  const revision = await wildcard.store.revision();
  const all = wildcard.entries(place, revision);
  return { pages: selectsAll(options) ? all : selected(all, call, options), revision };
}

async function* selected(
  pages: AsyncIterable<readonly Entry[]>,
  call: Call,
  options: ListOptions,
): AsyncGenerator<readonly Entry[], void, void> {
  for await (const page of pages) {
    yield page.filter((entry) => isSelected(options, call.resource, entry));
  }
}
