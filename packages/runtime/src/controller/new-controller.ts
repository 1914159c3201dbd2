/** Creates controllers. A controller does nothing until it is engaged with a cluster, and reconciles nothing until it is started. */

import type { ApiObject } from '@hangar/client';
import { Controller } from './controller.ts';
import type { ControllerOptions } from './options.ts';
import { resolve } from './resolved-options.ts';

/**
 * Returns a controller that calls the reconciler for the events of its sources. Throws `InvalidOptions`. `Manager.controller` creates one
 * and adds it to the manager.
 */
export function newController<
  F extends ApiObject,
  const O extends readonly ApiObject[] = [],
  const W extends readonly ApiObject[] = [],
>(options: ControllerOptions<F, O, W>): Controller {
  return new Controller(resolve(options as unknown as ControllerOptions));
}
