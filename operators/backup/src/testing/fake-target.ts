/** A kind of control planes in memory: each control plane is a map of objects. */

import { createHash } from 'node:crypto';
import { abortError } from '@hangar/core';
import type { ControlPlaneKind } from '../api/index.ts';
import { TargetError } from '../errors.ts';
import type { BackupTarget, ContentSummary, RestoreOptions, RestoreProgress, TargetName } from '../target.ts';

export interface FakePlane {
  objects: Record<string, string>;
  readonly labels: Readonly<Record<string, string>>;
  /** Of the restore that created it. */
  readonly uid?: string;
}

export interface FakeTarget extends BackupTarget {
  /** By `namespace/name`, or by name. */
  readonly planes: Map<string, FakePlane>;
  /** Exports that were opened. */
  exports: number;
  /** Calls of `list`. */
  lists: number;
  /** Called before each piece of an export. */
  onExport: (name: TargetName) => Promise<void> | void;
  /** Called at the start of `create` and `replace`; throws instead of a restore, or returns a state that is not complete. */
  onRestore: (name: TargetName) => Promise<RestoreProgress | void> | RestoreProgress | void;
  /** Changes the objects that a restore writes, to simulate a defect. */
  alter: (objects: Record<string, string>) => Record<string, string>;
}

export const keyOfPlane = ({ namespace, name }: TargetName): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

export function summaryOf(objects: Readonly<Record<string, string>>): ContentSummary {
  const sorted = Object.entries(objects).sort(([a], [b]) => (a < b ? -1 : 1));
  const contentDigest = createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
  return { objects: sorted.length, contentDigest, revision: '1' };
}

export function fakeTarget(kind: ControlPlaneKind = 'ControlPlane'): FakeTarget {
  const planes = new Map<string, FakePlane>();
  const existing = (name: TargetName): FakePlane => {
    const found = planes.get(keyOfPlane(name));
    if (!found) throw new TargetError('NotFound', `${kind} ${JSON.stringify(keyOfPlane(name))} does not exist`);
    return found;
  };
  async function restored(options: RestoreOptions): Promise<Record<string, string>> {
    const pieces: Buffer[] = [];
    for await (const piece of (await options.open()).content) pieces.push(Buffer.from(piece));
    return target.alter(JSON.parse(Buffer.concat(pieces).toString()) as Record<string, string>);
  }
  const target: FakeTarget = {
    kind,
    isNamespaced: kind === 'HostedControlPlane',
    planes,
    exports: 0,
    lists: 0,
    onExport: () => {},
    onRestore: () => {},
    alter: (objects) => objects,
    list(selector, { namespace }) {
      target.lists++;
      const found = [...planes].filter(([, { labels }]) =>
        Object.entries(selector).every(([name, value]) => labels[name] === value),
      );
      const names = found.map(([key]): TargetName => {
        const [first, second] = key.split('/');
        return second === undefined ? { name: first! } : { namespace: first, name: second };
      });
      return Promise.resolve(names.filter((one) => namespace === undefined || one.namespace === namespace));
    },
    async export(name, { signal, includesKeys }) {
      const { objects } = existing(name);
      target.exports++;
      async function* content(): AsyncGenerator<Uint8Array, void, void> {
        const bytes = Buffer.from(JSON.stringify(objects));
        for (let at = 0; at < bytes.length; at += 1024) {
          await target.onExport(name);
          if (signal.aborted) throw abortError(signal);
          yield bytes.subarray(at, at + 1024);
        }
      }
      return {
        payload: 'fake',
        mode: 'Virtual',
        versions: { fake: '1' },
        hasKeys: includesKeys,
        content: content(),
        summary: () => Promise.resolve(summaryOf(objects)),
      };
    },
    summarize: (name) => Promise.resolve(summaryOf(existing(name).objects)),
    async create(name, options) {
      const key = keyOfPlane(name);
      const found = planes.get(key);
      if (found && found.uid !== options.uid) {
        throw new TargetError('AlreadyExists', `${kind} ${JSON.stringify(key)} already exists`);
      }
      const progress = await target.onRestore(name);
      if (progress) return progress;
      const objects = await restored(options);
      planes.set(key, { objects, labels: options.labels ?? {}, uid: options.uid });
      return { state: 'Complete', summary: summaryOf(objects) };
    },
    async replace(name, options) {
      const plane = existing(name);
      const progress = await target.onRestore(name);
      if (progress) return progress;
      const objects = await restored(options);
      plane.objects = objects;
      return { state: 'Complete', summary: summaryOf(objects) };
    },
    delete(name) {
      planes.delete(keyOfPlane(name));
      return Promise.resolve();
    },
  };
  return target;
}
