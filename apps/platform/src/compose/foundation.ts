/** The base of control planes: store, keys and certificates, authentication, followed files, outbound connections. */

import { mkdir } from 'node:fs/promises';
import { systemClock } from '@hangar/core';
import type { Failpoints, Logger } from '@hangar/core';
import { UsageError } from '@hangar/core/command-line';
import { ObservedStore, Outbound } from '@hangar/server';
import type { ClusterDialer } from '@hangar/server';
import type { Auditor } from '@hangar/server/audit';
import type { Store } from '@hangar/store';
import type { PlatformOptions } from '../options/options.ts';
import { authentication } from './authentication.ts';
import type { Authentication } from './authentication.ts';
import { encrypted } from './encryption.ts';
import { firstStart } from './first-start.ts';
import type { FirstStart } from './first-start.ts';
import { FollowedFiles } from './followed-file.ts';
import { InsideUsers } from './inside-users.ts';
import { ServerIdentity } from './server-identity.ts';
import { openStore } from './store.ts';
import { aggregatedServices } from '../services/aggregated/table.ts';
import type { AuditFeed } from './audit-feed.ts';

export interface Foundation {
  readonly options: PlatformOptions;
  readonly log: Logger;
  readonly identity: ServerIdentity;
  readonly outbound: Outbound;
  readonly files: FollowedFiles;
  readonly users: InsideUsers;
  readonly trusted: Authentication;
  /** Encrypted where configured, and measured. */
  readonly store: Store;
  readonly measured: ObservedStore;
  readonly firstStart: FirstStart;
  readonly auditor: Auditor | undefined;
  /** Audit events for services of this process; absent: none of them needs them. */
  readonly auditFeed: AuditFeed | undefined;
  /** For tests. */
  readonly failpoints: Failpoints | undefined;
}

export const storePrefix = '/registry';

/** Opened resources are added to `opened`, also when it fails halfway. */
export async function openFoundation(
  options: PlatformOptions,
  log: Logger,
  opened: AsyncDisposableStack,
  failpoints?: Failpoints,
): Promise<Foundation> {
  await mkdir(options.dataDirectory, { recursive: true, mode: 0o700 });
  const opening = openStore(options);
  // The error is reported where it is awaited; then there is nothing to close.
  const closing = opening.then(
    (store) => () => store.close(),
    () => undefined,
  );
  opened.defer(async () => (await closing)?.());
  const identity = await ServerIdentity.load(options);
  const egress = await egressOf(options.egressSelectorConfig);
  const outbound = new Outbound({ allow: options.outboundAllow, egress });
  opened.defer(() => outbound.close());
  const files = new FollowedFiles({ clock: systemClock, log });
  opened.defer(() => files.close());
  const users = new InsideUsers();
  const trusted = await authentication(options, identity.credentials, { outbound, files, inside: users });
  const measured = new ObservedStore(await opening, storePrefix, systemClock);
  const first = await firstStart(measured, storePrefix, options.services.makesDemo);
  const store = await encrypted(measured, storePrefix, options);
  const needsAudit = options.services.aggregated.some((name) => aggregatedServices[name].needsAudit);
  const auditFeed = needsAudit ? new (await import('./audit-feed.ts')).AuditFeed(log) : undefined;
  const isAudited = options.audit !== undefined || auditFeed !== undefined;
  const auditor = isAudited
    ? await (await import('./audit.ts')).openAuditor({ options: options.audit, feed: auditFeed, outbound, log })
    : undefined;
  opened.defer(() => auditor?.close());
  return {
    options,
    log,
    identity,
    outbound,
    files,
    users,
    trusted,
    store,
    measured,
    firstStart: first,
    auditor,
    auditFeed,
    failpoints,
  };
}

/** Throws a UsageError if the file is wrong. */
async function egressOf(file: string | undefined): Promise<ClusterDialer | undefined> {
  if (file === undefined) return undefined;
  const { readEgress } = await import('@hangar/server/egress');
  return readEgress(file, systemClock).catch((error: Error) => {
    throw new UsageError(`--egress-selector-config-file: ${error.message}`, { cause: error });
  });
}
