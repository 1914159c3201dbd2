/**
 * Reads the audit log of a Hangar: the user, verb, place and time of each request. A request lasts from when it was received to when its
 * answer was complete, so that the watches of a manager cover its life, as the API server saw it.
 */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface AuditedRequest {
  /** Undefined: the management plane. */
  readonly tenant: string | undefined;
  readonly verb: string;
  readonly uri: string;
  readonly user: string;
  readonly agent: string;
  readonly code: number;
  readonly beginMs: number;
  /** Infinity: it is still in progress. */
  readonly endMs: number;
}

interface AuditEvent {
  readonly auditID: string;
  readonly stage: 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic';
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username?: string };
  readonly userAgent?: string;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly responseStatus?: { readonly code?: number };
  readonly annotations?: Readonly<Record<string, string>>;
}

const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] };
const ofTenant = 'tenancy.hangar.dev/tenant';

export class AuditLog {
  readonly #path: string;
  readonly flags: readonly string[];

  private constructor(path: string, policyPath: string) {
    this.#path = path;
    this.flags = [`--audit-policy-file=${policyPath}`, `--audit-log-path=${path}`, '--audit-log-maxsize=0'];
  }

  static async prepare(folder: string): Promise<AuditLog> {
    const policyPath = join(folder, 'audit-policy.json');
    await writeFile(policyPath, JSON.stringify(policy));
    return new AuditLog(join(folder, 'audit.log'), policyPath);
  }

  /**
   * Returns every request so far. Rejects when something is missing: every received request has an answer, unless it is in progress; and
   * the other way round.
   */
  async read(): Promise<AuditedRequest[]> {
    const text = await readFile(this.#path, 'utf8');
    // The last line may be incomplete.
    const lines = text.slice(0, text.lastIndexOf('\n')).split('\n');
    const begun = new Map<string, AuditEvent>();
    const requests: AuditedRequest[] = [];
    for (const line of lines) {
      const event = JSON.parse(line) as AuditEvent;
      if (event.stage === 'RequestReceived') begun.set(event.auditID, event);
      else if (event.stage === 'ResponseStarted') continue;
      else if (begun.delete(event.auditID)) requests.push(requestOf(event, Date.parse(event.stageTimestamp)));
      else throw new Error(`the audit log has only the end of a request: ${line}`);
    }
    for (const event of begun.values()) requests.push(requestOf(event, Infinity));
    return requests.sort((a, b) => a.beginMs - b.beginMs);
  }
}

const requestOf = (event: AuditEvent, endMs: number): AuditedRequest => ({
  tenant: event.annotations?.[ofTenant],
  verb: event.verb,
  uri: event.requestURI,
  user: event.user.username ?? '',
  agent: event.userAgent ?? '',
  code: event.responseStatus?.code ?? 0,
  beginMs: Date.parse(event.requestReceivedTimestamp),
  endMs,
});

const managerAgent = /^hangar-controller-manager\.([^/]+)\//;

/** Returns the replica whose manager sent it; undefined: another client. */
export const replicaOf = ({ agent }: AuditedRequest): string | undefined => managerAgent.exec(agent)?.[1];

export interface Meeting {
  readonly tenant: string;
  readonly of: AuditedRequest;
  readonly and: AuditedRequest;
}

/** Finds concurrent requests of two replicas' managers in one tenant. */
export function meetings(requests: readonly AuditedRequest[]): Meeting[] {
  const found: Meeting[] = [];
  /** By tenant and replica: the longest of the requests that have started. */
  const longest = new Map<string, Map<string, AuditedRequest>>();
  for (const request of requests) {
    const replica = replicaOf(request);
    if (replica === undefined || request.tenant === undefined) continue;
    const here = longest.get(request.tenant) ?? new Map<string, AuditedRequest>();
    longest.set(request.tenant, here);
    for (const [other, before] of here) {
      if (other !== replica && before.endMs > request.beginMs) {
        found.push({ tenant: request.tenant, of: before, and: request });
      }
    }
    const own = here.get(replica);
    if (!own || own.endMs < request.endMs) here.set(replica, request);
  }
  return found;
}

/** Returns the replicas whose managers had a request in progress in a tenant at that moment. */
export const presentAt = (requests: readonly AuditedRequest[], tenant: string, atMs: number): string[] => [
  ...new Set(
    requests
      .filter((one) => one.tenant === tenant && one.beginMs <= atMs && one.endMs > atMs)
      .flatMap((one) => replicaOf(one) ?? []),
  ),
];
