/**
 * CPU profiles of the server by phase, and the stretches in which its event loop had no pause.
 *
 *     using profile = await ServerProfile.start({ pid, logFile, folder });
 *     await migrate();
 *     print(await profile.take('to dedicated'));   // writes FOLDER/to-dedicated.cpuprofile
 */

import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openInspector } from '../inspector.ts';
import type { Inspector } from '../inspector.ts';

export interface ServerProfileOptions {
  readonly pid: number;
  /** The standard error of the server. */
  readonly logFile: string;
  /** For the profiles; created. */
  readonly folder: string;
}

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const samplingUs = 500;
const shownStretches = 5;
const shownFunctions = 12;

export class ServerProfile implements Disposable {
  readonly #inspector: Inspector;
  readonly #folder: string;

  private constructor(inspector: Inspector, folder: string) {
    this.#inspector = inspector;
    this.#folder = folder;
  }

  static async start({ pid, logFile, folder }: ServerProfileOptions): Promise<ServerProfile> {
    await mkdir(folder, { recursive: true });
    const inspector = await openInspector(pid, () => readFileSync(logFile, 'utf8'));
    await inspector.call('Profiler.enable');
    await inspector.call('Profiler.setSamplingInterval', { interval: samplingUs });
    await inspector.call('Profiler.start');
    return new ServerProfile(inspector, folder);
  }

  /** Ends the profile of a phase, and starts the next one. Returns lines about the phase. */
  async take(phase: string): Promise<string> {
    const { profile } = await this.#inspector.call<{ profile: CpuProfile }>('Profiler.stop');
    await this.#inspector.call('Profiler.start');
    const file = join(this.#folder, `${phase.replaceAll(/\W+/g, '-')}.cpuprofile`);
    await writeFile(file, JSON.stringify(profile));
    return [`${phase}: ${file}`, ...summary(profile)].join('\n    ');
  }

  [Symbol.dispose](): void {
    this.#inspector[Symbol.dispose]();
  }
}

function summary({ nodes, samples, timeDeltas }: CpuProfile): string[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const spent = new Map<string, number>();
  const stretches: number[] = [];
  let [allUs, stretchUs] = [0, 0];
  for (const [at, id] of samples.entries()) {
    const name = names.get(id)!;
    const us = timeDeltas[at]!;
    allUs += us;
    if (name === '(idle)') {
      stretches.push(stretchUs);
      stretchUs = 0;
      continue;
    }
    stretchUs += us;
    spent.set(name, (spent.get(name) ?? 0) + us);
  }
  const busyUs = [...spent.values()].reduce((sum, us) => sum + us, 0);
  const longest = stretches.toSorted((a, b) => b - a).slice(0, shownStretches);
  const top = [...spent].toSorted(([, a], [, b]) => b - a).slice(0, shownFunctions);
  return [
    `busy ${((busyUs / allUs) * 100).toFixed(0)} % of ${(allUs / 1e6).toFixed(1)} s; longest without a pause: ${longest.map((us) => `${(us / 1_000).toFixed(0)} ms`).join(', ')}`,
    ...top.map(([name, us]) => `${((us / busyUs) * 100).toFixed(1).padStart(5)} %  ${name}`),
  ];
}

const nameOf = ({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string =>
  `${functionName || '(anonymous)'}${url === '' ? '' : ` ${url.replace(/^.*\/(?=(packages|operators|apps)\/)/, '')}:${lineNumber + 1}`}`;
