/** The kind Activity: changes in plain words. Read only, with watches that miss nothing as long as the retention keeps the activities. */

import { badRequest } from '@hangar/api';
import type { Clock } from '@hangar/core';
import { CompactedError, declareKind, schema } from '@hangar/server/library';
import type { Change, Kind, KindStorage, ObjectOf, PageOptions, Revision, TypeOf } from '@hangar/server/library';
import type { Backend } from '../backend/backend.ts';
import type { Scope } from '../scope/scope.ts';
import type { ActivityQuery, StoredActivity, VisiblePlanes } from '../storage/contract.ts';
import { group, version } from './audit-log-query.ts';

const { object, optional, string } = schema;

const fields = object({
  spec: object({
    summary: string({ description: 'The change in plain words.' }),
    time: string({ description: 'Time of the change.' }),
    verb: string({ description: 'Verb of the request.' }),
    plane: string({ description: 'Control plane of the changed object; root for the management plane.' }),
    actor: object({
      type: string({ description: 'User, ServiceAccount or System.' }),
      name: string({ description: 'Name of the user.' }),
    }),
    resource: object({
      apiGroup: optional(string()),
      apiVersion: optional(string()),
      resource: string(),
      subresource: optional(string()),
      kind: string(),
      namespace: optional(string()),
      name: optional(string()),
      uid: optional(string()),
    }),
    origin: object({ auditID: string({ description: 'Audit ID of the event.' }) }),
  }),
});

export type ActivityObject = ObjectOf<TypeOf<typeof fields>>;

export interface ActivityWorld {
  readonly backend: Backend;
  readonly clock: Clock;
  readonly scope: Scope;
}

export const activities = (world: ActivityWorld): Kind =>
  declareKind({
    group,
    version,
    kind: 'Activity',
    plural: 'activities',
    scope: 'Cluster',
    schema: fields,
    columns: [
      { name: 'Time', type: 'string', jsonPath: '.spec.time' },
      { name: 'Plane', type: 'string', jsonPath: '.spec.plane' },
      { name: 'Summary', type: 'string', jsonPath: '.spec.summary' },
    ],
    selectableFields: [
      '.spec.plane',
      '.spec.verb',
      '.spec.actor.name',
      '.spec.resource.resource',
      '.spec.resource.namespace',
      '.spec.resource.name',
    ],
    storage: new ActivityStorage(world),
  });

/** A list without a limit must not be longer. */
const listMax = 20_000;
const unlimited = 1_000;
const watchedAtOnce = 500;
/** `remainingItemCount` is at most this. */
const countMax = 10_000;
/** Commits of other replicas on the same database are found by reads. */
const pollMs = 1_000;

/** Names are in the order of versions. */
const nameOf = (at: number): string => `activity-${String(at).padStart(16, '0')}`;

function versionOf(name: string): number | undefined {
  const digits = /^activity-(\d{16})$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Returns the version before the first name that is not before `start`, which may be a name with a suffix. */
function versionBefore(start: string): number {
  if (start === '') return 0;
  const exact = versionOf(start);
  if (exact !== undefined) return exact - 1;
  return versionOf(start.slice(0, nameOf(0).length)) ?? (start < nameOf(0) ? 0 : Number.MAX_SAFE_INTEGER);
}

export class ActivityStorage implements KindStorage<ActivityObject> {
  readonly #world: ActivityWorld;

  constructor(world: ActivityWorld) {
    this.#world = world;
  }

  async get(_: string, name: string): Promise<ActivityObject | undefined> {
    const at = versionOf(name);
    if (at === undefined) return undefined;
    const found = await this.#world.backend.activity(at, await this.#planes());
    return found && objectOfActivity(found);
  }

  list(): Promise<{ items: ActivityObject[]; version: number; more: boolean }> {
    return this.page({ start: '', limit: listMax, version: undefined });
  }

  /** Activities do not change: an earlier state has the activities up to its version. */
  async page({ start, limit, version: at }: PageOptions) {
    const { backend } = this.#world;
    const planes = await this.#planes();
    const afterVersion = versionBefore(start);
    // For every start: clients can write continue tokens themselves.
    if (limit >= unlimited) await this.#checkLength({ planes, afterVersion, upToVersion: at });
    const page = await backend.activities({ planes, afterVersion, upToVersion: at, limit: limit + 1 });
    if (at !== undefined && at < page.floor) throw new CompactedError(at as Revision, page.floor as Revision);
    const items = page.activities.slice(0, limit).map(objectOfActivity);
    return { items, version: at ?? page.version, more: page.activities.length > limit };
  }

  async count({ start, version: at }: Omit<PageOptions, 'limit'>): Promise<number> {
    const planes = await this.#planes();
    const afterVersion = versionBefore(start);
    return this.#world.backend.countActivities({ planes, afterVersion, upToVersion: at, limit: countMax });
  }

  async version(): Promise<number> {
    return (await this.#world.backend.activities({ planes: [], afterVersion: 0, limit: 1 })).version;
  }

  async *watch(after: number, signal: AbortSignal): AsyncGenerator<Change<ActivityObject>> {
    for (let seen = after; !signal.aborted;) {
      const planes = await this.#planes();
      // Before the read, so that no commit is missed between both.
      const more = this.#nextCommit(planes, signal);
      try {
        const page = await this.#world.backend.activities({ planes, afterVersion: seen, limit: watchedAtOnce });
        if (seen < page.floor) throw new CompactedError(seen as Revision, page.floor as Revision);
        for (const one of page.activities) {
          seen = one.version;
          yield { type: 'created', version: seen, object: objectOfActivity(one) };
        }
        if (page.activities.length < watchedAtOnce) await more.promise;
      } finally {
        more.cancel();
      }
    }
  }

  #planes(): Promise<VisiblePlanes> {
    return this.#world.scope.planes();
  }

  async #checkLength(query: Omit<ActivityQuery, 'limit'>): Promise<void> {
    const count = await this.#world.backend.countActivities({ ...query, limit: listMax + 1 });
    if (count > listMax) {
      throw badRequest(`there are more than ${listMax} activities: list them in pages with a limit below ${unlimited}`);
    }
  }

  #nextCommit(planes: VisiblePlanes, signal: AbortSignal): { readonly promise: Promise<void>; cancel(): void } {
    const { backend, clock } = this.#world;
    const { promise, resolve } = Promise.withResolvers<void>();
    const names = planes === 'all' ? undefined : new Set(planes.map(({ name }) => name));
    const remove = backend.onCommit(({ changedPlanes }) => {
      if (!names || changedPlanes.some((plane) => names.has(plane))) resolve();
    });
    const wake = (): void => resolve();
    signal.addEventListener('abort', wake, { once: true });
    const timer = backend.isShared || names?.size !== 1 ? clock.after(pollMs, wake) : undefined;
    return {
      promise,
      cancel() {
        remove();
        timer?.cancel();
        signal.removeEventListener('abort', wake);
      },
    };
  }
}

function objectOfActivity({ version: at, text }: StoredActivity): ActivityObject {
  const spec = JSON.parse(text) as ActivityObject['spec'];
  return {
    kind: 'Activity',
    apiVersion: `${group}/${version}`,
    metadata: {
      name: nameOf(at),
      uid: `ac000000-0000-4000-8000-${at.toString(16).padStart(12, '0')}`,
      resourceVersion: String(at),
      creationTimestamp: `${spec.time.slice(0, 19)}Z`,
    },
    spec,
  };
}
