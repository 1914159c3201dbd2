/** The test files that wait for a slot, and the decision which of them starts next. */

export interface WaitingFilesOptions {
  /** Returns the group of a file of which only one file runs at a time. Undefined: the file belongs to no group. */
  readonly exclusiveGroup?: ((file: string) => number | undefined) | undefined;
  /** Returns the number of cores that a file is expected to use. Without it, files do not wait for cores. */
  readonly load?: ((file: string) => number) | undefined;
  /** Limits the sum of the loads of running files. A file with a higher load runs while no other file runs. */
  readonly loadMax?: number | undefined;
}

/** Hands out files in the given order. A file that cannot start yet is passed over. */
export class WaitingFiles {
  readonly #options: WaitingFilesOptions;
  readonly #waiting: string[];
  readonly #running = new Set<string>();
  #finished = Promise.withResolvers<void>();

  constructor(files: readonly string[], options: WaitingFilesOptions) {
    this.#waiting = [...files];
    this.#options = options;
  }

  /** Waits until a file can start. Resolves with undefined if no file is left. */
  async next(): Promise<string | undefined> {
    while (this.#waiting.length > 0) {
      const at = this.#waiting.findIndex((file) => canStart(file, this.#running, this.#options));
      if (at !== -1) {
        const [file] = this.#waiting.splice(at, 1);
        this.#running.add(file!);
        return file;
      }
      await this.#finished.promise;
    }
    return undefined;
  }

  finished(file: string): void {
    this.#running.delete(file);
    this.#finished.resolve();
    this.#finished = Promise.withResolvers();
  }
}

/** While no file runs, every file can start. */
export function canStart(file: string, running: ReadonlySet<string>, options: WaitingFilesOptions): boolean {
  const { exclusiveGroup = () => undefined, load = () => 0, loadMax = Infinity } = options;
  if (running.size === 0) return true;
  const group = exclusiveGroup(file);
  const others = [...running];
  if (group !== undefined && others.some((other) => exclusiveGroup(other) === group)) return false;
  return others.reduce((sum, other) => sum + load(other), load(file)) <= loadMax;
}

/**
 * Orders files so that no long file is left at the end. Files of one exclusive group take as long as their sum: each counts with those of its
 * group that follow it.
 */
export function longestFirst(
  files: readonly string[],
  { durationMs, exclusiveGroup }: LongestFirstOptions,
): readonly string[] {
  const remainingMs = new Map<string, number>();
  const sumMs = new Map<number, number>();
  for (const file of files.toSorted((a, b) => durationMs(a) - durationMs(b))) {
    const group = exclusiveGroup(file);
    const ms = durationMs(file) + (group === undefined ? 0 : (sumMs.get(group) ?? 0));
    if (group !== undefined) sumMs.set(group, ms);
    remainingMs.set(file, ms);
  }
  return files.toSorted((a, b) => remainingMs.get(b)! - remainingMs.get(a)!);
}

export interface LongestFirstOptions {
  readonly durationMs: (file: string) => number;
  readonly exclusiveGroup: (file: string) => number | undefined;
}
