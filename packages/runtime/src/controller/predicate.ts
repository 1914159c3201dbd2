/**
 * Predicates: filters of events before they become requests. An absent function passes all events. They are called for every event of every
 * cluster: keep them cheap. If one throws, the error is logged and the event passes: an extra reconcile is better than a missing one.
 */

import type { ApiObject } from '@hangar/client';

/** Filters events before they become requests. An absent function passes all events. */
export interface Predicate<T extends ApiObject = ApiObject> {
  /** Filters ADDED events. `isInitial` is true for objects that existed before the controller. */
  create?(object: T, isInitial: boolean): boolean;
  update?(before: T, after: T): boolean;
  delete?(object: T): boolean;
  /** Filters triggers that are not events of the cluster. */
  generic?(object: T): boolean;
}

/** Passes events of objects for which the function returns true. An update passes if the new or the old state matches. */
export const matching = <T extends ApiObject>(isWanted: (object: T) => boolean): Predicate<T> => ({
  create: isWanted,
  update: (before, after) => isWanted(after) || isWanted(before),
  delete: isWanted,
  generic: isWanted,
});

/** Passes objects with one of these names. */
export const named = (...names: readonly string[]): Predicate =>
  matching(({ metadata }) => names.includes(metadata.name ?? ''));

/** Passes objects in one of these namespaces. */
export const inNamespace = (...namespaces: readonly string[]): Predicate =>
  matching(({ metadata }) => namespaces.includes(metadata.namespace ?? ''));

/** Passes objects with all these labels. `undefined` matches any value. */
export const labelled = (labels: Readonly<Record<string, string | undefined>>): Predicate => {
  const wanted = Object.entries(labels);
  return matching(({ metadata }) =>
    wanted.every(([name, value]) => {
      const { labels = {} } = metadata;
      return Object.hasOwn(labels, name) && (value === undefined || labels[name] === value);
    }),
  );
};

/** Passes updates that change `metadata.generation`, that is, updates of the spec. Updates of kinds without a generation pass. */
export const generationChanged: Predicate = {
  update: (before, after) =>
    after.metadata.generation === undefined || before.metadata.generation !== after.metadata.generation,
};

/** Drops updates without a change, such as resyncs. */
export const resourceVersionChanged: Predicate = {
  update: (before, after) => before.metadata.resourceVersion !== after.metadata.resourceVersion,
};

/** Passes updates that change labels. */
export const labelsChanged: Predicate = {
  update: (before, after) => !sameEntries(before.metadata.labels, after.metadata.labels),
};

/** Passes updates that change annotations. */
export const annotationsChanged: Predicate = {
  update: (before, after) => !sameEntries(before.metadata.annotations, after.metadata.annotations),
};

type Entries = Readonly<Record<string, string>> | undefined;

function sameEntries(a: Entries = {}, b: Entries = {}): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

/** Passes events that all predicates pass. */
export const and = <T extends ApiObject>(...all: readonly Predicate<T>[]): Predicate<T> => ({
  create: (object, isInitial) => all.every((one) => one.create?.(object, isInitial) ?? true),
  update: (before, after) => all.every((one) => one.update?.(before, after) ?? true),
  delete: (object) => all.every((one) => one.delete?.(object) ?? true),
  generic: (object) => all.every((one) => one.generic?.(object) ?? true),
});

/** Passes events that at least one predicate passes. An absent function of a predicate passes all events. */
export const or = <T extends ApiObject>(...any: readonly Predicate<T>[]): Predicate<T> => ({
  create: (object, isInitial) => any.some((one) => one.create?.(object, isInitial) ?? true),
  update: (before, after) => any.some((one) => one.update?.(before, after) ?? true),
  delete: (object) => any.some((one) => one.delete?.(object) ?? true),
  generic: (object) => any.some((one) => one.generic?.(object) ?? true),
});

/** Passes events that the predicate drops. */
export const not = <T extends ApiObject>(one: Predicate<T>): Predicate<T> => ({
  create: (object, isInitial) => !(one.create?.(object, isInitial) ?? true),
  update: (before, after) => !(one.update?.(before, after) ?? true),
  delete: (object) => !(one.delete?.(object) ?? true),
  generic: (object) => !(one.generic?.(object) ?? true),
});
