/** Names and labels of the backups of a schedule. */

import { createHash } from 'node:crypto';

const nameLengthMax = 253;
const labelLengthMax = 63;

/**
 * Returns the name of a backup: `nightly-202601020200-demo`. It depends only on its arguments, so that two operators cannot make two backups
 * of the same control plane at the same scheduled time.
 */
export function scheduledName(schedule: string, slotMs: number, controlPlane: string): string {
  const time = new Date(slotMs).toISOString().slice(0, 16).replaceAll(/[-T:]/g, '');
  const name = schedule === controlPlane ? `${schedule}-${time}` : `${schedule}-${time}-${controlPlane}`;
  return shortened(name, nameLengthMax);
}

/** Returns the value of a label for a name, which may be too long for a label. */
export const labelValue = (name: string): string => shortened(name, labelLengthMax);

function shortened(name: string, lengthMax: number): string {
  if (name.length <= lengthMax) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 12);
  return `${name.slice(0, lengthMax - 13).replace(/[^a-z0-9]+$/, '')}-${hash}`;
}
