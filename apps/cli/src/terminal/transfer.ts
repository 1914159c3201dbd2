/** The text of a transfer: a bar with percent if the size is known, otherwise bytes; and the rate. */

import { bytesText } from './figures.ts';

export interface TransferState {
  readonly bytes: number;
  /** Absent: not known. */
  readonly totalBytes?: number | undefined;
  readonly elapsedMs: number;
}

const barCells = 20;
/** A rate of the first moments says nothing. */
const rateAfterMs = 500;

/** `[████████············]  40% 12MiB of 30MiB 3.1MiB/s`, or `12MiB 3.1MiB/s`. */
export function transferText({ bytes, totalBytes, elapsedMs }: TransferState): string {
  const rate = elapsedMs < rateAfterMs ? '' : ` ${bytesText((bytes / elapsedMs) * 1_000)}/s`;
  if (totalBytes === undefined || totalBytes <= 0) return `${bytesText(bytes)}${rate}`;
  const fraction = Math.min(1, bytes / totalBytes);
  const cells = Math.floor(fraction * barCells);
  const bar = `[${'█'.repeat(cells)}${'·'.repeat(barCells - cells)}]`;
  const percent = `${Math.floor(fraction * 100)}%`.padStart(4);
  return `${bar} ${percent} ${bytesText(bytes)} of ${bytesText(totalBytes)}${rate}`;
}
