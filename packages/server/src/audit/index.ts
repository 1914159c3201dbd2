/** audit: records requests, their users and their results. */

export { Auditor } from './auditor.ts';
export type { AuditRecord } from './auditor.ts';
export { LogFile } from './log-file.ts';
export { AuditPolicy, AuditPolicyError } from './policy.ts';
export type { AuditSink } from './sink.ts';
export { WebhookSink } from './webhook-sink.ts';
