/** The clients of one life. Auditors and followers resume in the next one where they stopped. */

import { seededRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import type { Revision } from '../contract.ts';
import { Auditor } from './clients/auditor.ts';
import type { Client } from './clients/client.ts';
import { compactor } from './clients/compactor.ts';
import { leaseUser } from './clients/lease-user.ts';
import { reader } from './clients/reader.ts';
import { restorer } from './clients/restorer.ts';
import { watcher } from './clients/watcher.ts';
import type { Drain, WatcherMemory } from './clients/watcher.ts';
import { writer } from './clients/writer.ts';
import type { Profile } from './profile.ts';
import type { Session } from './session.ts';
import type { Universe } from './universe.ts';

interface Remembering {
  readonly auditor: Auditor;
  readonly followers: readonly WatcherMemory[];
}

/** State that clients keep from one life to the next. */
export type Memories = ReadonlyMap<Universe, Remembering>;

export function newMemories(universes: readonly Universe[], followers: number): Memories {
  const fresh = () => ({ prefix: undefined, position: undefined });
  return new Map(
    universes.map((universe) => [
      universe,
      { auditor: new Auditor(), followers: Array.from({ length: followers }, fresh) },
    ]),
  );
}

export interface Population {
  /** Resolves when all writers, readers and compactors have returned, as they do when their session stops. */
  readonly busy: Promise<unknown>;
  /** Resolves when all followers of a prefix have been drained, or the store was closed. */
  readonly following: Promise<unknown>;
  /** Resolves when the store was closed. */
  readonly auditing: Promise<unknown>;
  /** Never resolves. Rejects only on an error of the simulation itself. */
  readonly failed: Promise<never>;
  /** Resolves when the auditors have seen everything up to a revision. */
  audited(revision: Revision): Promise<void>;
}

export interface PopulationOptions {
  sessions: readonly Session[];
  memories: Memories;
  profile: Profile;
  random: Random;
  drain: Drain;
}

export function populate({ sessions, memories, profile, random, drain }: PopulationOptions): Population {
  const busy: Promise<void>[] = [];
  const following: Promise<void>[] = [];
  const auditing: Promise<void>[] = [];
  const client = (session: Session, name: string): Client => {
    return { name, session, profile, random: seededRandom(random.below(2 ** 32)) };
  };
  const looked = Promise.all(sessions.map((session) => memories.get(session.universe)!.auditor.look(session)));
  const start = (kind: (client: Client) => Promise<void>, count: number, session: Session) => {
    for (let n = 0; n < count; n++) {
      const one = client(session, `${kind.name}${n}`);
      busy.push(looked.then(() => kind(one)));
    }
  };
  const audited = async (revision: Revision) => {
    await Promise.all([...memories.values()].map(({ auditor }) => auditor.reached(revision)));
  };
  for (const session of sessions) {
    const { auditor, followers } = memories.get(session.universe)!;
    auditing.push(looked.then(() => auditor.run(session)));
    start(writer, profile.writers, session);
    start(reader, profile.readers, session);
    start(leaseUser, profile.leaseUsers, session);
    followers.forEach((memory, n) => {
      const one = client(session, `watcher${n}`);
      following.push(looked.then(() => watcher(one, memory, drain)));
    });
  }
  const compacting = { compactor: (one: Client) => compactor(one, audited) };
  start(compacting.compactor, profile.compactors, sessions[0]!);
  if (profile.restorers > 0) for (const session of sessions) start(restorer, profile.restorers, session);
  const everyone = [...busy, ...following, ...auditing];
  const failed = Promise.race(everyone.map((running) => running.then(() => new Promise<never>(() => {}))));
  failed.catch(() => {});
  return { busy: all(busy), following: all(following), auditing: all(auditing), failed, audited };
}

/** Errors are reported by `failed`. */
function all(running: readonly Promise<void>[]): Promise<unknown> {
  const finished = Promise.all(running);
  finished.catch(() => {});
  return finished;
}
