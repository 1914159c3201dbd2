/**
 * Which events are worth a reconcile. A function that is absent lets everything through. They are called for every event, by
 * every cluster: keep them cheap. One that throws is logged, and its event is let through: better once too often than never.
 */

import type { ApiObject } from '@hangar/client';

export interface Predicate<T extends ApiObject = ApiObject> {
  /** `isInitial`: it was there before the controller. */
  create?(object: T, isInitial: boolean): boolean;
  update?(before: T, after: T): boolean;
  delete?(object: T): boolean;
  /** Of what no event of the cluster said. */
  generic?(object: T): boolean;
}

/** By the object alone, whatever happened to it. An update counts when it is true of the new state or was of the old. */
export const matching = <T extends ApiObject>(isWanted: (object: T) => boolean): Predicate<T> => ({
  create: isWanted,
  update: (before, after) => isWanted(after) || isWanted(before),
  delete: isWanted,
  generic: isWanted,
});

export const named = (...names: readonly string[]): Predicate =>
  matching(({ metadata }) => names.includes(metadata.name ?? ''));

export const inNamespace = (...namespaces: readonly string[]): Predicate =>
  matching(({ metadata }) => namespaces.includes(metadata.namespace ?? ''));

/** With all of these labels; undefined: with any value. */
export const labelled = (labels: Readonly<Record<string, string | undefined>>): Predicate => {
  const wanted = Object.entries(labels);
  return matching(({ metadata }) =>
    wanted.every(([name, value]) => {
      const { labels = {} } = metadata;
      return Object.hasOwn(labels, name) && (value === undefined || labels[name] === value);
    }),
  );
};

/** Updates of the spec only; not those of a status or of metadata. Kinds without a generation let everything through. */
export const generationChanged: Predicate = {
  update: (before, after) =>
    after.metadata.generation === undefined || before.metadata.generation !== after.metadata.generation,
};

/** Not what is only told again. */
export const resourceVersionChanged: Predicate = {
  update: (before, after) => before.metadata.resourceVersion !== after.metadata.resourceVersion,
};

export const labelsChanged: Predicate = {
  update: (before, after) => !sameEntries(before.metadata.labels, after.metadata.labels),
};

export const annotationsChanged: Predicate = {
  update: (before, after) => !sameEntries(before.metadata.annotations, after.metadata.annotations),
};

type Entries = Readonly<Record<string, string>> | undefined;

function sameEntries(a: Entries = {}, b: Entries = {}): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

export const and = <T extends ApiObject>(...all: readonly Predicate<T>[]): Predicate<T> => ({
  create: (object, isInitial) => all.every((one) => one.create?.(object, isInitial) ?? true),
  update: (before, after) => all.every((one) => one.update?.(before, after) ?? true),
  delete: (object) => all.every((one) => one.delete?.(object) ?? true),
  generic: (object) => all.every((one) => one.generic?.(object) ?? true),
});

/** A function that one of them does not have is true there, as everywhere. */
export const or = <T extends ApiObject>(...any: readonly Predicate<T>[]): Predicate<T> => ({
  create: (object, isInitial) => any.some((one) => one.create?.(object, isInitial) ?? true),
  update: (before, after) => any.some((one) => one.update?.(before, after) ?? true),
  delete: (object) => any.some((one) => one.delete?.(object) ?? true),
  generic: (object) => any.some((one) => one.generic?.(object) ?? true),
});

export const not = <T extends ApiObject>(one: Predicate<T>): Predicate<T> => ({
  create: (object, isInitial) => !(one.create?.(object, isInitial) ?? true),
  update: (before, after) => !(one.update?.(before, after) ?? true),
  delete: (object) => !(one.delete?.(object) ?? true),
  generic: (object) => !(one.generic?.(object) ?? true),
});
