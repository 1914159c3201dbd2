/**
 * Names the work that a thread is doing: for which tenant, for which user, which request or reconcile. The name follows the work through
 * promises, timers and callbacks, so that every slice of a request has it.
 *
 *     runActivity(new Activity('GET', '/api/v1/pods'), () => handle(request));
 *     currentActivity()?.tenant                                    // anywhere below, after any await
 *
 * Cost: about 0.3 µs for each activity (docs/adr/0029), nothing for each await.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from './clock.ts';

export class Activity {
  verb: string;
  /** A request's path, or a controller's name and its object. */
  resource: string;
  /** '' until a router has chosen the tenant. */
  tenant = '';
  /** '' until the user is authenticated. */
  user = '';
  /** Work of the platform itself for the tenant: by a controller or the operator. */
  readonly isPlatformWork: boolean;
  /** The time of this activity is charged to its tenant. False for unauthenticated clients and for platform administrators. */
  isAccountable = false;
  /** Called when a later slice of the work begins. Undefined: the time of slices is not charged. */
  meter: Meter | undefined;
  /** Identifies it among samples of one thread; 0 until the first sample. */
  sampleId = 0;

  constructor(verb: string, resource: string, isPlatformWork = false) {
    this.verb = verb;
    this.resource = resource;
    this.isPlatformWork = isPlatformWork;
  }

  /** Enters a tenant. Work of the platform is accountable at once, other work when its user is known. */
  enterTenant(tenant: string): void {
    this.tenant = tenant;
    this.isAccountable = this.isPlatformWork;
  }

  /** `isOfTenant`: the tenant has issued the user's credentials. */
  authenticated(user: string, isOfTenant: boolean): void {
    if (this.isPlatformWork) return;
    this.user = user;
    this.isAccountable = isOfTenant;
  }
}

/** Charges the time of a thread to the activity that runs. */
export interface Meter {
  runs(): void;
}

const running = new AsyncLocalStorage<Activity | undefined>();

let begun = 0;
let onNext: (() => void) | undefined;

export function runActivity<Result>(activity: Activity, work: () => Result): Result {
  begun++;
  onNext?.();
  return running.run(activity, work);
}

/** Returns the number of activities that have begun in this thread. */
export const activitiesBegun = (): number => begun;

/** Sets one callback that is called once, before the next activity begins. */
export function onNextActivity(callback: (() => void) | undefined): void {
  onNext =
    callback &&
    ((): void => {
      onNext = undefined;
      callback();
    });
}

export const currentActivity = (): Activity | undefined => running.getStore();

/** Marks a later slice of the current activity; called after it waited. Returns `value`, for use in `then`. */
export function resumed<Value>(value: Value): Value {
  running.getStore()?.meter?.runs();
  return value;
}

/** Runs a reconcile or another piece of the platform's own work for a tenant. */
export function runForTenant<Result>(
  { tenant, user, verb, resource }: Readonly<Record<'tenant' | 'user' | 'verb' | 'resource', string>>,
  work: () => Result,
): Result {
  const activity = new Activity(verb, resource, true);
  activity.user = user;
  activity.enterTenant(tenant);
  return runActivity(activity, work);
}

/** The clock for work that serves all tenants: its callbacks belong to no activity, whichever activity set the timer. */
export const detachedClock = (clock: Clock): Clock => ({
  now: () => clock.now(),
  monotonicMs: () => clock.monotonicMs(),
  after: (delayMs, callback) => running.run(undefined, () => clock.after(delayMs, callback)),
  soon: (callback) => running.run(undefined, () => clock.soon(callback)),
});
