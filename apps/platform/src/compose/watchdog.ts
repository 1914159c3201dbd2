/** The watchdog of this process: its state is in the data directory, its findings go to fairness and tenancy. */

import { join } from 'node:path';
import { systemClock } from '@hangar/core';
import type { FairQueue, Tenancy } from '@hangar/server';
import { CrashJournal, StallGuard, StallPolicy, Watchdog } from '@hangar/server/watchdog';
import type { Foundation } from './foundation.ts';

export interface PlatformWatchdog {
  readonly guard: StallGuard;
  /** Quarantines the tenant that ended the process before this one. To be called before anything is done for tenants. Never rejects. */
  recover(): Promise<void>;
}

interface Watched {
  readonly fairQueue: FairQueue;
  readonly tenancy: Tenancy;
}

export function openWatchdog(
  { options, log }: Foundation,
  { fairQueue, tenancy }: Watched,
  opened: AsyncDisposableStack,
): PlatformWatchdog {
  const directory = join(options.dataDirectory, 'watchdog');
  const file = join(directory, 'activity.json');
  const onError = (error: Error): void =>
    log.error('failed to write the crash journal: the next start may not find the cause of a crash', { error });
  const journal = new CrashJournal(file, onError);
  const crash = new CrashJournal(join(directory, 'crash.json'), onError);
  // Before the thread writes its own record. If this start fails before `recover`, the next start finds this one.
  journal.moveTo(join(directory, 'crash.json'));
  const record = crash.read();
  const policy = new StallPolicy({
    clock: systemClock,
    limits: options.quarantine,
    file: join(directory, 'strikes.json'),
    log,
  });
  tenancy.quarantines.onResumed((tenant) => policy.resumed(tenant));
  const guard = new StallGuard({
    policy,
    charge: (tenant, ms) => {
      fairQueue.stalled(tenant, ms);
      tenancy.stalled(tenant);
    },
    quarantine: (tenant, verdict) => tenancy.quarantines.put(tenant, verdict),
    isQuarantined: (tenant) => tenancy.tenants.find(tenant)?.quarantine !== undefined,
    log,
  });
  const watchdog = new Watchdog({
    journal: { file, journal },
    onStall: (stall) => guard.stalled(stall),
    onError: (error) => log.error('watchdog failed: stalls may not be attributed to tenants', { error }),
  });
  opened.defer(() => watchdog.close());
  const recover = async (): Promise<void> => {
    if (record) await guard.crashed(record);
    crash.remove();
  };
  return { guard, recover };
}
