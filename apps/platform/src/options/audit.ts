/** Flags of the audit log, named as in kube-apiserver. */

import { UsageError } from '@hangar/core/command-line';
import type { HelpGroup } from '@hangar/core/command-line';

export interface AuditOptions {
  readonly policyFile: string;
  readonly log: AuditLogOptions | undefined;
  /** A kubeconfig. */
  readonly webhookFile: string | undefined;
}

export interface AuditLogOptions {
  /** `-`: standard output. */
  readonly path: string;
  readonly bytesMax: number;
  readonly backupsMax: number;
  readonly ageMaxMs: number;
}

const text = { type: 'string' } as const;

export const auditFlags = {
  'audit-policy-file': text,
  'audit-log-path': text,
  'audit-log-maxsize': text,
  'audit-log-maxbackup': text,
  'audit-log-maxage': text,
  'audit-webhook-config-file': text,
} as const;

export const auditHelp: HelpGroup = {
  title: 'Audit',
  rows: [
    ['--audit-policy-file FILE', 'audit policy (default: no audit)'],
    ['--audit-log-path FILE', 'file for audit events; - is standard output'],
    ['--audit-log-maxsize MEGABYTES', 'size at which the log is rotated (default: 100; 0: never)'],
    ['--audit-log-maxbackup N', 'number of rotated logs to keep (default: all)'],
    ['--audit-log-maxage DAYS', 'age up to which rotated logs are kept (default: no limit)'],
    ['--audit-webhook-config-file FILE', 'kubeconfig of the webhook that receives audit events'],
  ],
};

type Values = { readonly [Name in keyof typeof auditFlags]?: string | undefined };

const dayMs = 86_400_000;
const megabyte = 1024 * 1024;

/** Undefined: nothing is audited. */
export function auditOptions(values: Values): AuditOptions | undefined {
  const policyFile = values['audit-policy-file'];
  const path = values['audit-log-path'];
  const webhookFile = values['audit-webhook-config-file'];
  if (policyFile === undefined) {
    const orphan = Object.keys(auditFlags).find((name) => values[name as keyof Values] !== undefined);
    if (orphan !== undefined) throw new UsageError(`--${orphan} requires --audit-policy-file`);
    return undefined;
  }
  if (path === undefined && webhookFile === undefined) {
    throw new UsageError('--audit-policy-file requires --audit-log-path or --audit-webhook-config-file');
  }
  return {
    policyFile,
    webhookFile,
    log:
      path === undefined
        ? undefined
        : {
            path,
            bytesMax: number(values, 'audit-log-maxsize', 100) * megabyte,
            backupsMax: number(values, 'audit-log-maxbackup', 0),
            ageMaxMs: number(values, 'audit-log-maxage', 0) * dayMs,
          },
  };
}

function number(values: Values, name: keyof Values, fallback: number): number {
  const given = values[name];
  if (given === undefined) return fallback;
  if (!/^\d{1,6}$/.test(given)) throw new UsageError(`--${name}: "${given}" is not a number`);
  return Number(given);
}
