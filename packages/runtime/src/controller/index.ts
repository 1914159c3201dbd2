/** Controllers: sources, predicates, mappings and workers. Start with `new-controller.ts` and `reconcile.ts`. */

export { newController } from './new-controller.ts';
export { Controller } from './controller.ts';
export type { TriggerOptions } from './controller.ts';
export type {
  ControllerOptions,
  ForOptions,
  Mapping,
  OwnsOptions,
  RawSource,
  RequestLike,
  SourceContext,
  WatchesOptions,
} from './options.ts';
export { mapToOwner, mapToSelf } from './mappings.ts';
export {
  and,
  annotationsChanged,
  generationChanged,
  inNamespace,
  labelled,
  labelsChanged,
  matching,
  named,
  not,
  or,
  resourceVersionChanged,
} from './predicate.ts';
export type { Predicate } from './predicate.ts';
export type { ReconcileContext, Reconciler, Request, Result } from './reconcile.ts';
/** For other users of a queue: metrics, classification of failures, and the budget of a turn. */
export { ControllerMetrics } from './controller-metrics.ts';
export { failureOf } from './outcome.ts';
export { Turn } from './turn.ts';
