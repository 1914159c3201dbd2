/** A bar is a promise with a number: it is printed with what was measured, met or missed. */

export interface Bar {
  readonly what: string;
  readonly measured: number;
  readonly bar: number;
  /** Whether the figure must be at least or at most the bar. */
  readonly must: 'at least' | 'at most';
  /** With the space before it; absent: a ratio. */
  readonly unit?: string;
}

/** Prints every bar and answers whether all were met. */
export function printBars(bars: readonly Bar[]): boolean {
  console.log('\nBars');
  let all = true;
  for (const { what, measured, bar, must, unit = ' ×' } of bars) {
    const met = must === 'at least' ? measured >= bar : measured <= bar;
    all &&= met;
    console.log(`  ${met ? '✔' : '✖'} ${what}: ${measured.toFixed(2)}${unit} (${must} ${bar}${unit})`);
  }
  return all;
}
