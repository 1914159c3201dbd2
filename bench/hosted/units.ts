/** Units of the tables. */

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
export const mebibytes = (value: number): string => `${value.toFixed(0)} MiB`;
