/** From errors of targets, destinations and references to the reasons of conditions, and whether a retry helps. */

import { BackupError } from '@hangar/backup';
import { asError } from '@hangar/core';
import { ReferenceFault, TargetError } from './errors.ts';

/** A failure as a condition shows it. */
export interface Fault {
  /** In CamelCase. */
  readonly reason: string;
  readonly message: string;
  /** Whether the same attempt never succeeds. */
  readonly isPermanent: boolean;
}

export type FaultContext = 'backup' | 'restore';

/** Codes of targets have another name in conditions, where the object is a backup. */
const targetReasons: Readonly<Record<TargetError['code'], string>> = {
  NotFound: 'ControlPlaneNotFound',
  AlreadyExists: 'ControlPlaneExists',
  NotReady: 'ControlPlaneNotReady',
  Refused: 'ControlPlaneRefused',
};

const permanent: ReadonlySet<string> = new Set([
  'ControlPlaneNotFound',
  'ControlPlaneExists',
  'ControlPlaneRefused',
  'ReferenceNotAllowed',
  'DestinationInvalid',
  'ScheduleInvalid',
  'BackupNotComplete',
  'BackupChanged',
  'NotABackup',
  'UnsupportedVersion',
  'KeyRequired',
  'WrongKey',
  'NotEncrypted',
  'InvalidKey',
  'InvalidName',
  'TooLarge',
]);

/** Of stored bytes: another read returns the same. During an upload they are damage on the way, and the upload is repeated. */
const permanentForRestores: ReadonlySet<string> = new Set(['Corrupted', 'Truncated', 'NotFound']);

const messageLengthMax = 1_000;

/** Errors without a code of this package have the reason `BackupFailed` or `RestoreFailed` and are retried. */
export function faultOf(error: unknown, context: FaultContext): Fault {
  const { message, reason } = described(error, context);
  const isPermanent = permanent.has(reason) || (context === 'restore' && permanentForRestores.has(reason));
  return { reason, message: message.slice(0, messageLengthMax), isPermanent };
}

function described(error: unknown, context: FaultContext): { reason: string; message: string } {
  const { message } = asError(error);
  if (error instanceof TargetError) return { reason: targetReasons[error.code], message };
  if (error instanceof BackupError || error instanceof ReferenceFault) return { reason: error.code, message };
  return { reason: context === 'backup' ? 'BackupFailed' : 'RestoreFailed', message };
}
