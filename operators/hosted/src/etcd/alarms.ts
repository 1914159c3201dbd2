/** From the health of etcd to a fault for the conditions of a control plane. */

import type { Fault } from '../fault.ts';
import type { EtcdAlarm, EtcdHealth } from './health.ts';

const mebibyte = 2 ** 20;

/** In whole mebibytes, rounded up. */
export const inMebibytes = (bytes: number): string => `${Math.ceil(bytes / mebibyte)}Mi`;

/** Undefined: no alarm is raised. */
export function alarmFault({ alarms, space }: Pick<EtcdHealth, 'alarms' | 'space'>): Fault | undefined {
  const corrupt = alarms.filter(({ type }) => type === 'CORRUPT');
  if (corrupt.length > 0) {
    const message = `alarm CORRUPT of etcd ${members(corrupt)}: the data of members differ; replace the member, or restore a backup`;
    return { reason: 'EtcdCorrupt', message };
  }
  if (alarms.length === 0) return undefined;
  const sizes = alarms.map(({ member, dbSizeBytes, quotaBytes }) => {
    const quota = quotaBytes === undefined ? '' : ` of its quota of ${inMebibytes(quotaBytes)}`;
    return dbSizeBytes === undefined
      ? JSON.stringify(member)
      : `${JSON.stringify(member)} uses ${inMebibytes(dbSizeBytes)}${quota}`;
  });
  const attempts = space?.attempts ?? 0;
  const progress =
    attempts === 0
      ? 'The operator removes old revisions and defragments the members'
      : `The operator removed old revisions and defragmented the members (attempts: ${attempts}), and the data still does not fit: delete objects, which still works, or raise spec.etcd.volumeSizeMax, spec.etcd.volumeSize or quota-backend-bytes in spec.etcd.args. The next attempt follows within 10 minutes`;
  const message = `alarm NOSPACE of etcd, the control plane refuses writes: member ${sizes.join(', member ')}. ${progress}`;
  return { reason: 'NoSpace', message };
}

const members = (alarms: readonly EtcdAlarm[]): string =>
  `member ${alarms.map(({ member }) => JSON.stringify(member)).join(', ')}`;
