/**
 * A handler that asserts the contract of handlers: each object is added, then updated, then deleted, and every version follows the one
 * before.
 */

import assert from 'node:assert/strict';
import type { ApiObject } from '@hangar/client';
import type { EventHandler } from '../contract.ts';

export class Recorder<T extends ApiObject = ApiObject> implements EventHandler<T> {
  readonly known = new Map<string, T>();
  /** `+a` added, `*a` added and initial, `~a` updated, `-a` deleted. */
  readonly events: string[] = [];

  readonly onAdd = (object: T, isInitial: boolean): void => {
    if (isBuiltin(object)) return;
    const name = nameOf(object);
    assert.equal(this.known.has(name), false, `${name} is added, but known`);
    this.known.set(name, object);
    this.events.push(`${isInitial ? '*' : '+'}${name}`);
  };

  readonly onUpdate = (before: T, after: T): void => {
    const name = nameOf(after);
    assert.equal(this.known.get(name), before, `${name}: what was before is not what was seen before`);
    assert.equal(before.metadata.uid, after.metadata.uid, `${name} became another object`);
    this.known.set(name, after);
    this.events.push(`~${name}`);
  };

  readonly onDelete = (object: T): void => {
    const name = nameOf(object);
    assert.equal(this.known.get(name)?.metadata.uid, object.metadata.uid, `${name} is deleted, but not known`);
    this.known.delete(name);
    this.events.push(`-${name}`);
  };

  /** Returns the events since the last call. */
  take(): string[] {
    return this.events.splice(0);
  }
}

/** Clusters start with some objects. */
const isBuiltin = ({ metadata }: ApiObject): boolean => metadata.namespace?.startsWith('kube-') ?? false;
const nameOf = ({ metadata }: ApiObject): string => metadata.name!;
