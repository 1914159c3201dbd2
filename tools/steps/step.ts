/** One way to get a program. Steps are tried in the order of `index.ts` until one has it. */

import type { Program } from '../catalogue.ts';
import type { World } from '../world.ts';

export interface Found {
  /** Absolute. */
  path: string;
  /** With the leading `v`, or `unknown`. */
  version: string;
  /** For messages: `PATH`, `cache`, `built with go1.26.8`. */
  from: string;
}

export interface NotFound {
  /** One line that says what to change if this step should have helped. */
  reason: string;
  /** No later step may run: it would find another program than the requested one. */
  final?: boolean;
}

export interface Step {
  name: string;
  /** An expected failure is a `NotFound`; a throw is reported the same way, with the error's message. */
  attempt(program: Program, world: World): Promise<Found | NotFound>;
}
