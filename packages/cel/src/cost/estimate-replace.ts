/** Estimates the length of `text.replace(old, with)`: the maximum from short pieces replaced by long ones, and vice versa. */

import { add, most, multiply } from './interval.ts';
import type { Interval } from './interval.ts';

export function replacedSize(text: Interval, old: Interval, replacement: Interval): Interval {
  // Replacing nothing surrounds every character; a replacement that cannot lengthen leaves the length as it was.
  const longest =
    old.min === 0
      ? { count: text.max < most ? text.max + 1 : text.max, kept: text.max }
      : replacement.max <= old.min
        ? { count: 0, kept: text.max }
        : { count: Math.ceil(text.max / old.min), kept: 0 };
  const shortest =
    old.max === 0
      ? { count: text.min < most ? text.min + 1 : text.min, kept: text.min }
      : old.max <= replacement.min
        ? { count: 0, kept: text.min }
        : { count: Math.ceil(text.min / old.max), kept: 0 };
  const replaced = multiply({ min: shortest.count, max: longest.count }, replacement);
  return add(replaced, { min: shortest.kept, max: longest.kept });
}
