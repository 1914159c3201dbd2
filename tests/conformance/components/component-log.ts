/**
 * Reads the log of a Kubernetes component, and finds errors that repeat: a component that cannot do its work retries for ever, so a
 * repeated error is work that never completes.
 */

/** klog: `E1116 01:02:03.000004   1234 file.go:56] message`. */
const errorLine = /^E\d{4} [\d:.]+ +\d+ ([\w.-]+\.go:\d+)\] (.*)$/;
/** Errors of Hangar's own log, or the crash of a program. */
const otherError = /^\{"level":[56]0,|^panic:|^fatal error:/;

export interface RepeatedError {
  readonly count: number;
  /** The first one, as it was written. */
  readonly example: string;
}

export class ComponentLog {
  readonly #lines: string[] = [];
  #rest = '';

  readonly add = (text: string): void => {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    this.#lines.push(...lines);
  };

  /** A position in the log, to read only what follows. */
  get length(): number {
    return this.#lines.length;
  }

  lines(from = 0): readonly string[] {
    return this.#lines.slice(from);
  }

  errors(from = 0): readonly string[] {
    return this.lines(from).filter((line) => errorLine.test(line) || otherError.test(line));
  }

  /** Errors of the same place about the same object, most frequent first; those seen at most `countMax` times are left out. */
  repeatedErrors(countMax: number, from = 0): RepeatedError[] {
    const seen = new Map<string, { count: number; example: string }>();
    for (const line of this.errors(from)) {
      const known = seen.get(subjectOf(line));
      if (known) known.count++;
      else seen.set(subjectOf(line), { count: 1, example: line });
    }
    return [...seen.values()].filter(({ count }) => count > countMax).sort((a, b) => b.count - a.count);
  }
}

/** Returns the line without parts that differ between attempts: times, versions, uids. The object's name stays. */
function subjectOf(line: string): string {
  const [, place, message] = errorLine.exec(line) ?? [undefined, '', line];
  // A controller that waits for another version each time only races with its own writes; for the same one, it is stuck.
  if (/is not as new as written version/.test(message!)) return `${place} ${message}`;
  const words = message!
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '#')
    .replaceAll(/(?<![\w-])[\d.]+(?=m?s\b|\b)/g, '#');
  return `${place} ${words}`;
}
