/** A server as those see it that run in the same process. */

import type { Handler, HealthCheck, Tenancy } from '@hangar/server';
import type { TenantIncident } from '@hangar/server/watchdog';
import type { ControlPlanes } from './control-planes.ts';
import type { Credentials } from './credentials.ts';
import type { FirstStart } from './first-start.ts';
import type { Foundation } from './foundation.ts';
import type { InsideUsers } from './inside-users.ts';

export interface Inside {
  /** Of the port. */
  readonly url: string;
  /** Where tenants are reached, by the platform's own and, when that is another place, by everybody else. */
  readonly internalUrl: string;
  readonly externalUrl: string | undefined;
  readonly users: InsideUsers;
  /** All control planes, as the port has them. */
  readonly handler: Handler;
  readonly tenancy: Tenancy;
  readonly firstStart: FirstStart;
  /** Of the management plane. */
  keys(): RootKeys;
  /** What clients must trust; PEM. */
  servingCa(): string;
  /** Sets the only listener for stalls, crashes and quarantines of tenants. */
  onIncident(listener: (incident: TenantIncident) => void): void;
  /** More for `/metrics`, in Prometheus' format. */
  addMetrics(text: () => string): void;
  /** One more line of `/readyz?verbose`. */
  addCheck(check: HealthCheck): void;
}

/** What the management plane signs with. */
export interface RootKeys {
  readonly authority: Credentials['authority'];
  /** PEM. */
  readonly serviceAccountKey: string;
  readonly serviceAccountIssuer: string;
}

export function insideOf(foundation: Foundation, planes: ControlPlanes, url: string): Inside {
  const { options, identity, users, firstStart, trusted } = foundation;
  const { handler, tenancy, watchdog, metrics, checks } = planes;
  const { externalUrl, services } = options;
  return {
    url,
    // Of several servers, the one that works now writes for all of them: its own address would lead nowhere else.
    internalUrl: options.internalUrl ?? (services.electsLeader ? externalUrl : undefined) ?? url,
    externalUrl,
    users,
    handler,
    tenancy,
    firstStart,
    keys: () => ({
      authority: identity.credentials.authority,
      serviceAccountKey: trusted.signingKey,
      serviceAccountIssuer: options.authentication.issuers[0]!,
    }),
    servingCa: () => identity.servingCa(),
    onIncident: (listener) => watchdog.guard.onIncident(listener),
    addMetrics: (text) => void metrics.push(text),
    addCheck: (check) => void checks.push(check),
  };
}
