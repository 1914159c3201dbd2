/** Those parts of the command line that say what is written down of requests, and where. As kube-apiserver names them. */

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
    ['--audit-policy-file FILE', 'what is audited, and how closely (default: nothing is)'],
    ['--audit-log-path FILE', 'where events are written; - is standard output'],
    ['--audit-log-maxsize MEGABYTES', 'a larger log is put aside (default: 100; 0: never)'],
    ['--audit-log-maxbackup N', 'how many of these are kept (default: all)'],
    ['--audit-log-maxage DAYS', 'for how long they are kept (default: for ever)'],
    ['--audit-webhook-config-file FILE', 'kubeconfig of a server that is sent the events'],
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
    if (orphan !== undefined) throw new UsageError(`--${orphan} needs --audit-policy-file`);
    return undefined;
  }
  if (path === undefined && webhookFile === undefined) {
    throw new UsageError('--audit-policy-file needs --audit-log-path or --audit-webhook-config-file');
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
  if (!/^\d{1,6}$/.test(given)) throw new UsageError(`--${name}: "${given}" is no number`);
  return Number(given);
}
