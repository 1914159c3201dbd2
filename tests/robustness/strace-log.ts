/** Parses strace's output (with `-f -y -s <large>`) to the events of a disk. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DiskEvent } from './disk-history.ts';

/** The calls that `diskEvents` parses. */
export const diskCalls = ['openat', 'pwrite64', 'write', 'fsync', 'fdatasync', 'ftruncate', 'unlink', 'rename'];

/** In the order of completion. `told` is the file that stands for the output: a write to it is an acknowledgement. */
export function diskEvents(outputPath: string, options: { directory: string; told: string }): DiskEvent[] {
  /** Calls that a line of another thread interrupted, by thread. */
  const unfinished = new Map<string, string>();
  return readFileSync(outputPath, 'latin1')
    .split('\n')
    .flatMap((line): DiskEvent[] => {
      const [, thread, rest] = /^(\d+)\s+(.*)$/s.exec(line) ?? [];
      if (!thread || !rest || /^(\+\+\+|---)/.test(rest)) return []; // ends and signals
      if (rest.endsWith('<unfinished ...>')) {
        unfinished.set(thread, rest.slice(0, -'<unfinished ...>'.length));
        return [];
      }
      if (!succeeded(rest)) return [];
      const isResumed = rest.startsWith('<... ');
      return eventOf(isResumed ? unfinished.get(thread)! : rest, options);
    });
}

/** Neither refused nor interrupted by the exit of the process. */
function succeeded(line: string): boolean {
  return /\) += \d+[^"]*$/.test(line.slice(-300));
}

function eventOf(line: string, { directory, told }: { directory: string; told: string }): DiskEvent[] {
  const call = /^\w+/.exec(line)?.[0] ?? '';
  const handle = /^\w+\(\d+<([^>]*)>/.exec(line)?.[1] ?? '';
  const names = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, name]) => name!);
  switch (call) {
    case 'openat': {
      const path = names[0]!;
      if (!line.includes('O_CREAT') || path === told) return [];
      const opened: DiskEvent[] = [{ type: 'create', path }];
      return line.includes('O_TRUNC') ? [...opened, { type: 'truncate', path, length: 0 }] : opened;
    }
    case 'write':
      return handle === told ? [{ type: 'told', text: unescape(names[0]!).toString() }] : appended(handle, names[0]!);
    case 'pwrite64': {
      const offset = Number(/, (\d+)\)?\s*(?:= \d+)?$/.exec(line)?.[1]);
      if (!Number.isSafeInteger(offset)) throw new Error(`no offset in ${line.slice(0, 60)} … ${line.slice(-60)}`);
      return [{ type: 'write', path: handle, offset, data: unescape(names[0]!) }];
    }
    case 'fsync':
    case 'fdatasync':
      return [{ type: 'sync', path: handle }];
    case 'ftruncate':
      return [{ type: 'truncate', path: handle, length: Number(/, (\d+)/.exec(line)![1]) }];
    case 'unlink':
      return [{ type: 'unlink', path: names[0]! }];
    case 'rename':
      return [{ type: 'rename', path: names[0]!, to: names[1]! }];
    default:
      throw new Error(`unexpected call in ${directory}: ${call}`);
  }
}

/** Only the file with the pid is written without an offset, once. */
function appended(path: string, text: string): DiskEvent[] {
  return path.endsWith(join('/', 'owner.pid')) ? [{ type: 'write', path, offset: 0, data: unescape(text) }] : [];
}

const shortEscapes: Record<string, number> = { n: 10, t: 9, r: 13, v: 11, f: 12, '"': 34, '\\': 92 };

/** C's escapes, as strace writes them. */
function unescape(text: string): Buffer {
  const bytes = Buffer.alloc(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== '\\') {
      bytes[length++] = text.charCodeAt(at);
      continue;
    }
    const octal = /^[0-7]{1,3}/.exec(text.slice(at + 1, at + 4))?.[0];
    bytes[length++] = octal === undefined ? shortEscapes[text[at + 1]!]! : Number.parseInt(octal, 8);
    at += octal?.length ?? 1;
  }
  return bytes.subarray(0, length);
}
