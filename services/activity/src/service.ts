/** The service: database threads, the endpoint for audit webhooks, and the API, on one port. */

import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { serveAggregated } from '@hangar/server/library';
import type { AggregatedServer, ClusterAccess, Kind } from '@hangar/server/library';
import type { Backend } from './backend/backend.ts';
import { ThreadedBackend } from './backend/threads.ts';
import { IngestEndpoint } from './ingest/endpoint.ts';
import type { IngestCredential } from './ingest/endpoint.ts';
import { activities } from './kinds/activity.ts';
import { auditLogQueries } from './kinds/audit-log-query.ts';
import { defaultPolicies } from './policy/defaults.ts';
import type { ActivityPolicy } from './policy/policy.ts';
import { PolicySet } from './policy/policy.ts';
import type { PlaneDirectory } from './scope/directory.ts';
import { platformScope } from './scope/scope.ts';
import type { Scope } from './scope/scope.ts';
import { scopedViews } from './scope/views.ts';

export interface ActivityServiceOptions {
  /** File of SQLite, or `postgres://…`. */
  readonly database: string;
  readonly access: ClusterAccess;
  readonly directory: PlaneDirectory;
  readonly credentials: readonly IngestCredential[];
  /** Evaluated before the built-in ones. */
  readonly policies?: readonly ActivityPolicy[];
  readonly retentionMs?: number;
  /** Size of the database: beyond it, the oldest days are dropped. Default: 20 GiB. */
  readonly databaseBytesMax?: number;
  readonly host: string;
  readonly port: number;
  readonly hosts?: readonly string[];
  readonly clock?: Clock;
  readonly onError?: (error: Error) => void;
}

export interface ActivityService extends Pick<AggregatedServer, 'port' | 'ca' | 'close'> {
  /** Resolves when the service cannot continue: it must be closed and started again. */
  readonly failed: Promise<Error>;
  /** For events of the same process: as the endpoint, without HTTP. */
  readonly backend: Backend;
  /** For registrations. */
  readonly kinds: readonly Kind[];
}

const dayMs = 86_400_000;
export const defaultRetentionMs = 30 * dayMs;

/** Rejects, and releases everything, if a part cannot be started. */
export async function startActivityService(options: ActivityServiceOptions): Promise<ActivityService> {
  const { directory, clock = systemClock, onError = (error) => console.error(error) } = options;
  const policies = [...defaultPolicies, ...(options.policies ?? [])];
  // Invalid policies are reported before threads are started with them.
  void new PolicySet(policies);
  const backend = await ThreadedBackend.open({
    address: options.database,
    policies,
    retentionMs: options.retentionMs ?? defaultRetentionMs,
    ...(options.databaseBytesMax !== undefined && { databaseBytesMax: options.databaseBytesMax }),
    onError,
  });
  const kindsOf = (scope: Scope): Kind[] => [
    auditLogQueries({ backend, clock, scope }),
    activities({ backend, clock, scope }),
  ];
  const kinds = kindsOf(platformScope);
  const endpoint = new IngestEndpoint({ backend, credentials: options.credentials, onError });
  try {
    const { access, host, port, hosts } = options;
    const server = await serveAggregated({
      kinds,
      access,
      host,
      port,
      ...(hosts && { hosts }),
      clock,
      onError,
      route: (request) => endpoint.route(request),
      select: scopedViews({ directory, clock, kindsOf }),
    });
    return {
      port: server.port,
      ca: server.ca,
      failed: backend.failed,
      backend,
      kinds,
      async close() {
        await server.close();
        await backend.close();
      },
    };
  } catch (error) {
    await backend.close();
    throw error;
  }
}
