/**
 * The composition root of the server, from the bottom up:
 *
 *     foundation       store, keys, authentication
 *     control planes   the management plane and tenants, as one function that answers
 *     port             TLS
 *     inside           the same for services in this process (`services/`)
 */

import type { Failpoints, Logger } from '@hangar/core';
import { bootstrap } from '@hangar/server';
import type { PlatformOptions } from '../options/options.ts';
import { urlOf } from './addresses.ts';
import { openControlPlanes } from './control-planes.ts';
import { openFoundation } from './foundation.ts';
import { insideOf } from './inside.ts';
import type { Inside } from './inside.ts';
import { openPlanePorts } from './plane-ports.ts';
import { openPort } from './port.ts';
import type { ServerState } from './server-state.ts';
import { renewRegularly } from './serving.ts';

export interface Running {
  readonly url: string;
  readonly inside: Inside;
  close(): Promise<void>;
}

/** Closes all opened resources when a step fails. */
export async function start(options: PlatformOptions, log: Logger, failpoints?: Failpoints): Promise<Running> {
  await using opened = new AsyncDisposableStack();
  const state: ServerState = { isStarted: false, isReady: false, port: 0, url: '' };
  const foundation = await openFoundation(options, log, opened, failpoints);
  const planes = await openControlPlanes(foundation, state, opened);
  const listener = await openPort(foundation, planes);
  opened.defer(() => listener.close());
  state.port = listener.port;
  state.url = urlOf(options, listener.port);
  const { identity } = foundation;
  const renewal = renewRegularly(() => identity.renew(state.url), log);
  opened.defer(() => renewal.close());
  await bootstrap(planes.plane, planes.bootstrap());
  await planes.tenancy.start();
  const ports = openPlanePorts(foundation, planes, listener);
  opened.defer(() => ports?.close());
  await planes.watchdog.recover();
  await planes.aggregation.start();
  await identity.writeKubeconfig(state.url);
  state.isStarted = true;
  state.isReady = true;
  opened.defer(() => void (state.isReady = false));
  const running = opened.move();
  return { url: state.url, inside: insideOf(foundation, planes, state.url), close: () => running.disposeAsync() };
}
