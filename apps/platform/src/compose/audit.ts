/** The auditor of this server, as configured on the command line. */

import { readFile } from 'node:fs/promises';
import { systemClock } from '@hangar/core';
import type { Logger } from '@hangar/core';
import { kubeconfigAccess, postToCluster } from '@hangar/server';
import type { Outbound } from '@hangar/server';
import { Auditor, AuditPolicy, AuditPolicyError, LogFile, WebhookSink } from '@hangar/server/audit';
import type { AuditSink } from '@hangar/server/audit';
import { UsageError } from '@hangar/core/command-line';
import type { AuditOptions } from '../options/audit.ts';

import type { AuditFeed } from './audit-feed.ts';
import { defaultAuditPolicy } from './default-audit-policy.ts';

const postTimeoutMs = 30_000;

export interface AuditorOptions {
  /** Absent: the default policy, and only services of this process get events. */
  readonly options: AuditOptions | undefined;
  readonly feed: AuditFeed | undefined;
  readonly outbound: Outbound;
  readonly log: Logger;
}

export async function openAuditor({ options, feed, outbound, log }: AuditorOptions): Promise<Auditor> {
  const policy = options ? await policyIn(options.policyFile) : AuditPolicy.read(defaultAuditPolicy);
  const sinks: AuditSink[] = feed ? [feed] : [];
  if (options?.log) {
    const onError = (error: Error): void => log.error('audit events were lost', { error });
    sinks.push(new LogFile({ ...options.log, clock: systemClock, onError }));
  }
  if (options?.webhookFile !== undefined) sinks.push(await webhook(options.webhookFile, outbound, log));
  return new Auditor({ policy, sinks, clock: systemClock });
}

async function policyIn(file: string): Promise<AuditPolicy> {
  try {
    return AuditPolicy.read(await readFile(file, 'utf8'));
  } catch (error) {
    const isTheirs = error instanceof AuditPolicyError || (error as { code?: string }).code === 'ENOENT';
    throw isTheirs ? new UsageError(`--audit-policy-file: ${file}: ${(error as Error).message}`) : error;
  }
}

async function webhook(file: string, outbound: Outbound, log: Logger): Promise<WebhookSink> {
  const access = await kubeconfigAccess(file);
  return new WebhookSink({
    clock: systemClock,
    onLost: (events, reason) => log.error('audit events were lost', { events, reason }),
    post: async (body) => void (await postToCluster(outbound, access, body, { timeoutMs: postTimeoutMs })),
  });
}
