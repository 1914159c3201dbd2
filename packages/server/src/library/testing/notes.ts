/** An aggregated server for tests: one kind in a map, one in a store, one create-only, one read-only. */

import type { AdmissionPlugin } from '../../admission/admission.ts';
import { declareKind, Feed, schema, serveAggregated } from '../index.ts';
import type { AggregatedServer, ClusterAccess, KindStorage, ObjectOf, TypeOf, User } from '../index.ts';

const { anything, list, object, optional, string } = schema;
const group = 'notes.example.com';
const version = 'v1';

const fields = object({
  spec: object({ title: string({ maxLength: 20 }), tags: optional(list(string())) }),
  status: optional(object({ isRead: optional(string()) })),
});

type Note = ObjectOf<TypeOf<typeof fields>>;

export class NoteMap implements KindStorage<Note> {
  readonly #notes = new Map<string, Note>();
  readonly #feed = new Feed<Note>(1, 10);
  #version = 1;

  version = (): number => this.#version;
  get = (namespace: string, name: string): Note | undefined => this.#notes.get(`${namespace}/${name}`);
  watch = (after: number, signal: AbortSignal) => this.#feed.watch(after, signal);

  list(namespace: string) {
    const items = [...this.#notes.values()].filter((one) => namespace === '' || one.metadata.namespace === namespace);
    return { items, version: this.#version };
  }

  create(note: Note): number | undefined {
    return this.get(note.metadata.namespace!, note.metadata.name!) ? undefined : this.#put(note, undefined);
  }

  update(note: Note, expected: number): number | undefined {
    const previous = this.get(note.metadata.namespace!, note.metadata.name!);
    return Number(previous?.metadata.resourceVersion) === expected ? this.#put(note, previous) : undefined;
  }

  delete(namespace: string, name: string, expected: number): number | undefined {
    const known = this.get(namespace, name);
    if (Number(known?.metadata.resourceVersion) !== expected) return undefined;
    this.#notes.delete(`${namespace}/${name}`);
    this.#feed.push({ type: 'deleted', version: ++this.#version, object: known! });
    return this.#version;
  }

  #put(note: Note, previous: Note | undefined): number {
    const now = ++this.#version;
    const stored: Note = { ...note, metadata: { ...note.metadata, resourceVersion: String(now) } };
    this.#notes.set(`${note.metadata.namespace}/${note.metadata.name}`, stored);
    const change = { version: now, object: stored };
    this.#feed.push(previous ? { type: 'updated', ...change, previous } : { type: 'created', ...change });
    return now;
  }
}

export interface Notes extends AggregatedServer {
  /** Users who created introductions. */
  readonly seen: User[];
}

export async function startNotes(
  access: ClusterAccess,
  storage: KindStorage<Note> = new NoteMap(),
  admission: readonly AdmissionPlugin[] = [],
): Promise<Notes> {
  const seen: User[] = [];
  const columns = [{ name: 'Title', type: 'string', jsonPath: '.spec.title' }];
  const server = await serveAggregated({
    access,
    admission,
    host: '127.0.0.1',
    port: 0,
    hosts: ['notes.default.svc'],
    onError: () => undefined,
    kinds: [
      declareKind({
        group,
        version,
        kind: 'Note',
        plural: 'notes',
        shortNames: ['nt'],
        schema: fields,
        columns,
        selectableFields: ['.spec.title'],
        hasStatus: true,
        storage,
      }),
      declareKind({ group, version, kind: 'Memo', plural: 'memos', schema: object({ text: optional(string()) }) }),
      declareKind({
        group,
        version,
        kind: 'Introduction',
        plural: 'introductions',
        scope: 'Cluster',
        schema: object({ user: optional(anything()) }),
        storage: {
          onCreate: (made, { user }) => {
            seen.push(user);
            return { ...made, user };
          },
        },
      }),
      declareKind({
        group,
        version,
        kind: 'Moon',
        plural: 'moons',
        scope: 'Cluster',
        schema: object({ phase: optional(string()) }),
        storage: {
          get: (_, name) => (name === 'luna' ? moon : undefined),
          list: () => ({ items: [moon], version: 1 }),
        },
      }),
    ],
  });
  return { ...server, seen };
}

const moon = {
  kind: 'Moon',
  apiVersion: `${group}/${version}`,
  metadata: { name: 'luna', uid: 'moon', resourceVersion: '1' },
  phase: 'full',
};
