/** `hangar backups`: lists ControlPlaneBackups and the schedules that make them. */

import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import type { Call, Command } from '../command.ts';
import { ageOf } from '../control-planes/table.ts';
import { failed } from '../errors.ts';
import { conditionOf, ControlPlaneBackup, ControlPlaneBackupSchedule } from '../kinds.ts';
import type { ControlPlaneBackupObject, ControlPlaneBackupScheduleObject } from '../kinds.ts';
import { bytesText } from '../terminal/figures.ts';
import { outputOption, printed } from '../terminal/printed.ts';
import type { Format } from '../terminal/printed.ts';
import { stylesOf } from '../terminal/styles.ts';
import { table } from '../terminal/table.ts';

const none = '-';

export const backups: Command = {
  name: 'backups',
  summary: 'list backups of control planes and their schedules',
  description:
    'Lists the ControlPlaneBackups of all namespaces, newest first, and the ControlPlaneBackupSchedules with their last drill. "hangar backup" makes a backup in a file or in S3 without such objects.',
  args: [
    {
      name: 'NAME',
      meaning: 'names of control planes (default: all)',
      isOptional: true,
      isRepeated: true,
      completes: 'control-plane',
    },
  ],
  options: [outputOption],
  examples: ['backups', 'backups demo', 'backups demo -o yaml'],
  isConnected: true,
  run: listBackups,
};

async function listBackups(call: Call): Promise<void> {
  const { session, given } = call;
  const client = await call.client();
  const { made, schedules } = await found(client, new Set(given.args), session.signal);
  const format = given.text('output') as Format | undefined;
  if (format !== undefined && format !== 'wide') {
    return session.out.write(printed(format, made, { isList: true, hasManagedFields: false }));
  }
  if (made.length === 0 && schedules.length === 0) {
    return session.err.write('there are no backups and no schedules: see docs/operations/backup.md\n');
  }
  const options = { style: stylesOf(session.out, session.env) };
  const now = session.clock.now();
  if (schedules.length > 0) {
    const head = ['SCHEDULE', 'CRON', 'PLANES', 'BACKUPS', 'FAILING', 'LAST', 'NEXT', 'DRILL'];
    session.out.write(
      table(
        head,
        schedules.map((one) => scheduleRow(one, now)),
        options,
      ),
    );
  }
  if (schedules.length > 0 && made.length > 0) session.out.write('\n');
  if (made.length > 0) {
    const head = ['BACKUP', 'CONTROL PLANE', 'PHASE', 'SIZE', 'OBJECTS', 'AGE', 'MESSAGE'];
    session.out.write(
      table(
        head,
        made.map((one) => backupRow(one, now)),
        options,
      ),
    );
  }
}

interface Found {
  /** Newest first. */
  readonly made: readonly ControlPlaneBackupObject[];
  readonly schedules: readonly ControlPlaneBackupScheduleObject[];
}

/** `names` is empty: all. A schedule with a selector is listed for each name. */
async function found(client: Client, names: ReadonlySet<string>, signal: AbortSignal): Promise<Found> {
  const isWanted = (name: string | undefined): boolean => names.size === 0 || name === undefined || names.has(name);
  try {
    const [backupList, scheduleList] = await Promise.all([
      client.list(ControlPlaneBackup, { signal }),
      client.list(ControlPlaneBackupSchedule, { signal }),
    ]);
    const createdAt = ({ metadata }: ControlPlaneBackupObject): string => String(metadata.creationTimestamp ?? '');
    return {
      made: backupList.items
        .filter(({ spec }) => isWanted(spec?.controlPlaneRef?.name))
        .sort((a, b) => createdAt(b).localeCompare(createdAt(a))),
      schedules: scheduleList.items.filter(({ spec }) => isWanted(spec?.controlPlaneRef?.name)),
    };
  } catch (error) {
    if (!hasCode(error, 'NotFound')) throw error;
    throw failed('the server does not serve ControlPlaneBackups', {
      next: 'if Hangar was started with --bare, start it without --bare',
      cause: error,
    });
  }
}

function backupRow(backup: ControlPlaneBackupObject, now: number): string[] {
  const { metadata, spec, status } = backup;
  const isComplete = status?.phase === 'Complete';
  return [
    `${metadata.namespace}/${metadata.name}`,
    spec?.controlPlaneRef?.name ?? none,
    status?.phase ?? 'Pending',
    isComplete ? bytesText(status?.sizeBytes) : none,
    String(status?.objects ?? none),
    ageOf(status?.completionTime ?? metadata.creationTimestamp, now),
    isComplete ? (status?.location ?? none) : (conditionOf(backup, 'Complete')?.message ?? none),
  ];
}

function scheduleRow({ metadata, spec, status }: ControlPlaneBackupScheduleObject, now: number): string[] {
  const { drill, lastBackupTime, nextBackupTime } = status ?? {};
  const ago = drill?.completionTime === undefined ? '' : ` ${ageOf(drill.completionTime, now)} ago`;
  return [
    `${metadata.namespace}/${metadata.name}`,
    spec?.schedule ?? none,
    String(status?.controlPlanes ?? none),
    String(status?.backups ?? 0),
    String(status?.failing ?? 0),
    lastBackupTime === undefined ? none : `${ageOf(lastBackupTime, now)} ago`,
    spec?.suspend ? 'suspended' : (nextBackupTime ?? none),
    drill?.result === undefined ? none : `${drill.result}${ago}`,
  ];
}
