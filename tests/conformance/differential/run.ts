/** Runs a sequence on both servers, step by step, until they differ. */

import type { Client } from './client.ts';
import { differences } from './difference.ts';
import type { Difference } from './difference.ts';
import { knownDifference } from './known.ts';
import type { KnownDifference } from './known.ts';
import { Session } from './session.ts';
import type { Outcome } from './session.ts';
import type { Step } from './step.ts';

export interface Servers {
  readonly real: Client;
  readonly ours: Client;
}

export interface Finding {
  /** Of the step that differs. */
  readonly at: number;
  readonly differences: readonly Difference[];
}

export interface Run {
  readonly finding: Finding | undefined;
  readonly known: readonly KnownDifference[];
  /** Requests that were compared, and those that the real server accepted. */
  readonly requests: number;
  readonly accepted: number;
}

let namespaces = 0;
const started = Date.now().toString(36);

export async function run(servers: Servers, steps: readonly Step[]): Promise<Run> {
  const namespace = `f${started}-${(namespaces++).toString(36)}`;
  const sessions = { real: new Session(servers.real, namespace), ours: new Session(servers.ours, namespace) };
  await Promise.all([sessions.real.begin(), sessions.ours.begin()]);
  const known = new Set<KnownDifference>();
  let accepted = 0;
  try {
    for (const [at, step] of steps.entries()) {
      const [real, ours] = await Promise.all([sessions.real.run(step), sessions.ours.run(step)]);
      if (real.status < 300) accepted++;
      const found = differences(real, ours).filter((difference) => {
        const why = knownDifference(difference, { step, real, ours });
        if (why) known.add(why);
        return why === undefined;
      });
      const isAlike = real.status < 300 === ours.status < 300;
      const finding = found.length > 0 ? { at, differences: found } : undefined;
      // From here on the two servers have different objects, and would differ because of that alone.
      if (finding || !isAlike) return { finding, known: [...known], requests: at + 1, accepted };
    }
    return { finding: undefined, known: [...known], requests: steps.length, accepted };
  } finally {
    await Promise.all([sessions.real.end(), sessions.ours.end()]);
  }
}

export interface Context {
  readonly step: Step;
  readonly real: Outcome;
  readonly ours: Outcome;
}
