/**
 * Loads `node:test` without its async hook. No other module of the process may load `node:test` earlier.
 *
 * The runner of Node finds the test that runs (the parent of a nested test, the test that caused an error) by an async hook that
 * records every promise of the process. In code with many promises that takes more CPU time than the code itself. Here the runner
 * finds the test in an `AsyncLocalStorage`, which costs nothing for each promise.
 *
 * The runner looks up `createHook`, `executionAsyncId` and `AsyncResource` (the base class of its tests) when it is loaded. Only that
 * one lookup gets the replacements.
 */

import asyncHooks, { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId } from 'node:async_hooks';
import type { AsyncResourceOptions, HookCallbacks } from 'node:async_hooks';

const running = new AsyncLocalStorage<number>();
let hook: HookCallbacks | undefined;

/** A test, suite or hook of the runner. Its identifier is the execution id of all code that it calls. */
class TestResource extends AsyncResource {
  constructor(type: string, options?: number | AsyncResourceOptions) {
    super(type, options);
    if (type === 'Test') hook?.init?.(this.asyncId(), type, this.triggerAsyncId(), this);
  }

  override runInAsyncScope<This, Result>(
    fn: (this: This, ...args: unknown[]) => Result,
    thisArg?: This,
    ...args: unknown[]
  ): Result {
    return super.runInAsyncScope(() => running.run(this.asyncId(), () => Reflect.apply(fn, thisArg as This, args)));
  }
}

Object.assign(asyncHooks, {
  AsyncResource: TestResource,
  executionAsyncId: () => running.getStore() ?? executionAsyncId(),
  createHook: (callbacks: HookCallbacks) => {
    hook = callbacks;
    const unused = { enable: () => unused, disable: () => unused };
    return unused;
  },
});
export const { describe } = await import('node:test');
Object.assign(asyncHooks, { AsyncResource, createHook, executionAsyncId });

/** The first suite installs the hook and the listeners of the runner. */
export const installed = describe('install', () => {});
if (hook === undefined) throw new Error('node:test was loaded before track-tests.ts');
