/** State that all peers of a simulated world share. */

export const group = 'sim';
