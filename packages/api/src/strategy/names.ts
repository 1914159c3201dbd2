/** Names of kinds whose validation is declared in their types: the same rule with slightly different messages. */

import { nameIsSubdomain } from '../validation/formats.ts';
import type { NameRule } from '../validation/formats.ts';

export const nameIsDeclared: NameRule = (name, isPrefix) =>
  nameIsSubdomain(name, isPrefix).map((reason) =>
    reason.replace(/^(must be no more than \d+) characters$/, '$1 bytes'),
  );
