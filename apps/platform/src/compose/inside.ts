/** The server as seen by services in the same process. */

import type { Handler, HealthCheck, Tenancy } from '@hangar/server';
import type { TenantIncident } from '@hangar/server/watchdog';
import type { ClusterAccess } from '@hangar/server/library';
import type { AuditFeed } from './audit-feed.ts';
import type { ControlPlanes } from './control-planes.ts';
import type { Credentials } from './credentials.ts';
import type { FirstStart } from './first-start.ts';
import type { Foundation } from './foundation.ts';
import type { InsideUsers } from './inside-users.ts';
import type { LocalKubelet } from './local-kubelet.ts';

export interface Inside {
  /** URL of the port. */
  readonly url: string;
  /** URL of tenants for the platform itself, and, if it differs, for all other clients. */
  readonly internalUrl: string;
  readonly externalUrl: string | undefined;
  readonly users: InsideUsers;
  /** Handler of all control planes, as on the port. */
  readonly handler: Handler;
  readonly tenancy: Tenancy;
  readonly firstStart: FirstStart;
  /** For the process runtime: the kubelet that the management plane may connect to. */
  readonly localKubelet: LocalKubelet;
  readonly dataDirectory: string;
  /** Audit events of all control planes; absent: no service of this process needs them. */
  readonly auditFeed: AuditFeed | undefined;
  /** Address and administrator of the management plane, for servers that call it over TLS. */
  adminAccess(): ClusterAccess;
  /** Lets all control planes connect to an endpoint of this process; the returned function ends it. */
  allowOwnEndpoint(host: string, port: number): () => void;
  /** Keys of the management plane. */
  keys(): RootKeys;
  /** CA that clients must trust; PEM. */
  servingCa(): string;
  /** Sets the only listener for stalls, crashes and quarantines of tenants. */
  onIncident(listener: (incident: TenantIncident) => void): void;
  /** Adds a text to `/metrics`, in Prometheus' format. */
  addMetrics(text: () => string): void;
  /** Adds a line to `/readyz?verbose`. */
  addCheck(check: HealthCheck): void;
}

/** Signing keys of the management plane. */
export interface RootKeys {
  readonly authority: Credentials['authority'];
  /** PEM. */
  readonly serviceAccountKey: string;
  readonly serviceAccountIssuer: string;
}

export function insideOf(foundation: Foundation, planes: ControlPlanes, url: string): Inside {
  const { options, identity, users, firstStart, trusted, outbound, auditFeed } = foundation;
  const { handler, tenancy, localKubelet, watchdog, metrics, checks } = planes;
  const { externalUrl, services } = options;
  return {
    url,
    // Of several servers, the leader writes for all of them: its own address would not be valid elsewhere.
    internalUrl: options.internalUrl ?? (services.electsLeader ? externalUrl : undefined) ?? url,
    externalUrl,
    users,
    handler,
    tenancy,
    firstStart,
    localKubelet,
    dataDirectory: options.dataDirectory,
    auditFeed,
    adminAccess: () => {
      const { certificate, key } = identity.credentials.admin;
      return { server: url, ca: identity.servingCa(), clientCertificate: { certificate, key } };
    },
    allowOwnEndpoint: (host, port) => outbound.allowOwnEndpoint(host, port),
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
