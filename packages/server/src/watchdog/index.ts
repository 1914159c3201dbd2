/**
 * Finds the tenants that stall the event loop, and quarantines them.
 *
 *     const guard = new StallGuard({ policy, charge, quarantine, log });
 *     const watchdog = new Watchdog({ onStall: (stall) => guard.stalled(stall), journal });
 */

export { CrashJournal } from './crash-journal.ts';
export { threadCpuMs } from './shared-beat.ts';
export { StallGuard } from './stall-guard.ts';
export type { TenantIncident } from './stall-guard.ts';
export { defaultQuarantineLimits, StallPolicy } from './stall-policy.ts';
export type { QuarantineLimits } from './stall-policy.ts';
export { Watchdog } from './watchdog.ts';
