/**
 * Handles stalls and crashes: logs and counts them, charges the time to the tenant's fair share, reports an incident from which
 * an Event is recorded, and quarantines a tenant that causes too many. The management plane is named in logs, and is never
 * charged or quarantined.
 */

import { Counter, Histogram, labelText } from '@hangar/core';
import type { Logger } from '@hangar/core';
import { stallMs } from './contract.ts';
import type { CrashRecord, SampledActivity, Stall } from './contract.ts';
import { described, longStallMs } from './stall-policy.ts';
import type { QuarantineVerdict, StallPolicy } from './stall-policy.ts';

/** An incident of a tenant, for an Event on its control plane. */
export interface TenantIncident {
  readonly tenant: string;
  readonly reason: 'EventLoopStall' | 'ProcessCrash' | 'Quarantined';
  readonly message: string;
}

export interface StallGuardOptions {
  readonly policy: StallPolicy;
  /** Charges the time to the tenant's fair share. */
  readonly charge: (tenant: string, ms: number) => void;
  /** Resolves with false if the tenant does not exist. */
  readonly quarantine: (
    tenant: string,
    verdict: Pick<QuarantineVerdict, 'reason' | 'message' | 'durationMs'>,
  ) => Promise<boolean>;
  /** Stalls of requests that were in flight when the quarantine began do not count for the next one. */
  readonly isQuarantined: (tenant: string) => boolean;
  readonly log: Logger;
}

const stallBounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** Number of tenants with a separate series; the others share one. */
const seriesMax = 100;
const incidentsMax = 100;

export class StallGuard {
  readonly #options: StallGuardOptions;
  readonly #stalls = new Histogram(
    'hangar_event_loop_stall_seconds',
    'Duration of stalls of the event loop above 100 ms.',
    stallBounds,
  );
  readonly #ofTenants = new Counter(
    'hangar_tenant_stalls_total',
    'Total number of stalls of the event loop above 100 ms by the tenant whose request caused them; tenants beyond the first 100 share "other".',
  );
  readonly #quarantines = new Counter(
    'hangar_tenant_quarantines_total',
    'Total number of quarantined tenants by reason.',
  );
  readonly #series = new Set<string>();
  /** Incidents that no listener has received yet. */
  #incidents: TenantIncident[] = [];
  #onIncident: ((incident: TenantIncident) => void) | undefined;

  constructor(options: StallGuardOptions) {
    this.#options = options;
  }

  /** Returns metrics in the Prometheus text format. */
  text(): string {
    return [this.#stalls, this.#ofTenants, this.#quarantines].map((family) => family.text()).join('\n');
  }

  /** Sets the only listener. It also receives earlier incidents. */
  onIncident(listener: (incident: TenantIncident) => void): void {
    this.#onIncident = listener;
    for (const incident of this.#incidents.splice(0)) listener(incident);
  }

  stalled(stall: Stall): void {
    const wholeMs = stall.untilMs - stall.fromMs;
    this.#stalls.observe('', wholeMs / 1_000);
    const caused = stall.parts.filter(({ activity, ms }) => activity && ms >= stallMs);
    if (caused.length === 0) this.#options.log.debug('event loop stalled by other work', { ms: Math.round(wholeMs) });
    for (const { activity, ms } of caused) this.#caused(activity!, ms);
  }

  #caused(activity: SampledActivity, ms: number): void {
    const { tenant, user, verb, resource, isAccountable } = activity;
    const { log, charge, policy, isQuarantined } = this.#options;
    log[levelOf(activity, ms)]('event loop stalled', { tenant, user, verb, resource, ms: Math.round(ms) });
    if (!isAccountable || tenant === rootTenant) return;
    this.#ofTenants.add(labelText({ tenant: this.#seriesOf(tenant) }));
    charge(tenant, ms);
    const message = `${described(activity)} blocked the server for ${Math.round(ms)} ms`;
    this.#tell({ tenant, reason: 'EventLoopStall', message });
    const verdict = isQuarantined(tenant) ? undefined : policy.stalled(activity, ms);
    if (verdict) void this.#quarantine(verdict);
  }

  /**
   * Handles the crash of the previous process during the activity. Resolves after the tenant is quarantined, if it must be.
   * Never rejects: the server must start in any case.
   */
  async crashed(record: CrashRecord): Promise<void> {
    try {
      await this.#crashed(record);
    } catch (error) {
      this.#options.log.error('failed to read the crash record of the previous server process', {
        error: error as Error,
      });
    }
  }

  async #crashed(record: CrashRecord): Promise<void> {
    const { activity, reason, isCertain } = record;
    const { tenant, user, verb, resource, isAccountable } = activity;
    this.#options.log.error('the previous server process exited during a request', {
      tenant,
      user,
      verb,
      resource,
      reason,
      isCertain,
    });
    if (!isAccountable || tenant === rootTenant) return;
    this.#tell({
      tenant,
      reason: 'ProcessCrash',
      message: `the server exited during ${described(activity)}: ${reason}`,
    });
    const verdict = this.#options.policy.crashed(record);
    if (verdict) await this.#quarantine(verdict);
  }

  async #quarantine(verdict: QuarantineVerdict): Promise<void> {
    const { tenant, reason, message, durationMs } = verdict;
    const { log, quarantine } = this.#options;
    try {
      if (!(await quarantine(tenant, { reason, message, durationMs }))) return;
      log.error('tenant quarantined', { tenant, reason, why: message, minutes: Math.round(durationMs / 6_000) / 10 });
      this.#quarantines.add(labelText({ reason }));
      this.#tell({ tenant, reason: 'Quarantined', message });
    } catch (error) {
      log.error('failed to quarantine a tenant', { tenant, error: error as Error });
    }
  }

  #tell(incident: TenantIncident): void {
    if (this.#onIncident) this.#onIncident(incident);
    else if (this.#incidents.length < incidentsMax) this.#incidents.push(incident);
  }

  #seriesOf(tenant: string): string {
    if (this.#series.size < seriesMax) this.#series.add(tenant);
    return this.#series.has(tenant) ? tenant : 'other';
  }
}

const rootTenant = 'root';

/** Work of the management plane is slow when a process is new: its code is loaded and compiled then. */
function levelOf({ tenant }: SampledActivity, ms: number): 'debug' | 'info' | 'warn' {
  if (ms >= longStallMs) return 'warn';
  return tenant === rootTenant ? 'debug' : 'info';
}
