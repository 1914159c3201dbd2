/** Value of the `date` header, formatted once a second. */

import type { Clock } from '@hangar/core';

let second = -1;
let text = '';

export function httpDate(clock: Clock): string {
  const now = Math.floor(clock.now() / 1_000);
  if (now !== second) {
    second = now;
    text = new Date(now * 1_000).toUTCString();
  }
  return text;
}
