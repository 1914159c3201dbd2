/** Formats amounts for users. */

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `12B`, `1.5KiB`; three figures at most. */
export function bytesText(bytes: number | undefined): string {
  if (bytes === undefined || !Number.isFinite(bytes)) return '?';
  let [amount, unit] = [bytes, 0];
  while (amount >= 999.5 && unit < units.length - 1) {
    amount /= 1024;
    unit++;
  }
  return `${shortNumber(amount)}${units[unit]}`;
}

/** `0`, `0.3`, `12`, `345`. */
export const shortNumber = (value: number): string =>
  value === 0 || value >= 99.95 || Number.isInteger(value) ? Math.round(value).toString() : value.toFixed(1);
