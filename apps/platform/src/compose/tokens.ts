/** kube-apiserver's file of static tokens: `token,user,uid,"group1,group2"` on each line. */

import type { StaticToken } from '@hangar/server';
import { UsageError } from '@hangar/core/command-line';

export function readTokens(text: string): StaticToken[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line, index) => {
      const [token, user, uid, groups] = fieldsOf(line);
      if (!token || !user || uid === undefined) {
        throw new UsageError(`--token-file: line ${index + 1} must be token,user,uid[,"group,group"]`);
      }
      return { token, user, uid, groups: groups === undefined || groups === '' ? [] : groups.split(',') };
    });
}

/** Comma-separated, with quotes around what has commas itself. */
const fieldsOf = (line: string): string[] =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, inQuotes, plain]) =>
    (inQuotes?.replaceAll('""', '"') ?? plain ?? '').trim(),
  );
