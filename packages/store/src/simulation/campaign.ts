/** Runs seeds, reports progress, and prints what is needed to reproduce a violation. */

import type { PlantedBug } from './planted-bugs.ts';
import { noBug } from './planted-bugs.ts';
import { simulate } from './simulate.ts';
import type { SeedReport } from './simulate.ts';

const traceLines = 30;
const reportedMax = 5;
const progressEveryMs = 2_000;

export interface CampaignOptions {
  print(text: string): void;
  verbose?: boolean;
  /** A planted bug must be found within this many seeds. */
  huntSeedsMax?: number;
}

export class Campaign {
  readonly #options: CampaignOptions;
  /** The seed that is running. */
  seed = 0;

  constructor(options: CampaignOptions) {
    this.#options = options;
  }

  /** Returns true if no seed violates a property. */
  async healthy({ from, seeds }: { from: number; seeds: number }): Promise<boolean> {
    const startMs = performance.now();
    const total = { commits: 0, deliveries: 0, lives: 0 };
    const violated = new Map<string, number[]>();
    let printedMs = startMs;
    for (let done = 0; done < seeds; done++) {
      const report = await this.#simulate(from + done, noBug);
      total.commits += report.commits;
      total.deliveries += report.deliveries;
      total.lives += report.lives;
      if (report.violation) {
        const { property } = report.violation;
        violated.set(property, [...(violated.get(property) ?? []), report.seed]);
        if (violated.get(property)!.length === 1 && violated.size <= reportedMax) this.#tell(report, noBug);
      }
      const nowMs = performance.now();
      if (nowMs - printedMs < progressEveryMs) continue;
      printedMs = nowMs;
      this.#line(`  ${done + 1} of ${seeds} seeds, ${(((done + 1) * 1000) / (nowMs - startMs)).toFixed(0)} a second`);
    }
    const seconds = (performance.now() - startMs) / 1000;
    this.#line(
      `${seeds} seeds in ${seconds.toFixed(1)} s: ${total.commits} transactions, ${total.deliveries} batches and marks, ${total.lives} lives`,
    );
    for (const [property, list] of violated) {
      this.#line(`  violated: ${property} by ${list.length} seeds (${list.slice(0, 10).join(', ')} …)`);
    }
    this.#line(violated.size === 0 ? 'no violation' : 'VIOLATED');
    return violated.size === 0;
  }

  /** Returns true if every bug is found. */
  async hunt(bugs: readonly PlantedBug[]): Promise<boolean> {
    const width = Math.max(...bugs.map((bug) => bug.name.length));
    let all = true;
    this.#line(`\n${'planted bug'.padEnd(width)}  found at  violated`);
    for (const bug of bugs) {
      const report = await this.find(bug);
      all &&= report !== undefined;
      const row = report ? [String(report.seed).padStart(8), report.violation!.property] : ['NOT FOUND'];
      this.#line([bug.name.padEnd(width), ...row].join('  '));
      if (report && this.#options.verbose) this.#tell(report, bug);
    }
    return all;
  }

  /** Returns the report of the first seed that shows a bug; undefined if none does within the limit. */
  async find(bug: PlantedBug): Promise<SeedReport | undefined> {
    for (let seed = 0; seed < (this.#options.huntSeedsMax ?? 500); seed++) {
      const report = await this.#simulate(seed, bug);
      if (report.violation) return report;
    }
    return undefined;
  }

  async one(seed: number, bug: PlantedBug): Promise<boolean> {
    const report = await this.#simulate(seed, bug);
    const { violation, trace, commits, deliveries, lives } = report;
    if (violation) this.#tell(report, bug);
    else if (this.#options.verbose) this.#line(trace.until(Infinity, Infinity).join('\n'));
    this.#line(
      `seed ${seed}: ${commits} transactions, ${deliveries} batches and marks, ${lives} lives, ${trace.hash()}`,
    );
    return !violation;
  }

  #simulate(seed: number, bug: PlantedBug): Promise<SeedReport> {
    this.seed = seed;
    return simulate(seed, bug);
  }

  #tell({ seed, violation, trace }: SeedReport, bug: PlantedBug): void {
    const { property, message, line } = violation!;
    const planted = bug === noBug ? '' : ` --bug ${bug.name}`;
    this.#line(`\nseed ${seed} is not ${property}: ${message}`);
    this.#line(trace.until(line, this.#options.verbose ? Infinity : traceLines).join('\n'));
    this.#line(`again: npm run sim -- --seed ${seed}${planted}\n`);
  }

  #line(text: string): void {
    this.#options.print(`${text}\n`);
  }
}
