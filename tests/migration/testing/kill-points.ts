/** The points of a migration at which programs are killed: before or after a write, in the order of the writes. */

import type { Side } from './writable-side.ts';
import type { Victim } from './programs-of.ts';

export interface KillPoint {
  readonly step: 'Provision' | 'CopyAndFollow' | 'Verify' | 'Switch' | 'Registrations' | 'Decommission';
  /** Name of the failpoint. */
  readonly at: string;
  /** The attempt to switch can fail and be repeated, with a back-off. */
  readonly isInAttempt?: boolean;
}

export interface Kill extends KillPoint {
  readonly victim: Victim;
}

/** One migration, and the kills during it. */
export interface Round {
  readonly to: Side;
  readonly kills: readonly Kill[];
}

const around = (step: KillPoint['step'], write: string, more: Pick<KillPoint, 'isInAttempt'> = {}): KillPoint[] =>
  ['before', 'after'].map((when) => ({ step, at: `${write}.${when}`, ...more }));
const inAttempt = { isInAttempt: true } as const;

export const killPoints: Readonly<Record<Side, readonly KillPoint[]>> = {
  Dedicated: [
    ...around('Provision', 'controlplane.migration-hosted-control-plane'),
    ...around('Provision', 'hosted.replica-seed'),
    ...around('Provision', 'hosted.replica-fence'),
    ...around('CopyAndFollow', 'controlplane.migration-copy-and-follow'),
    ...around('Verify', 'controlplane.migration-verify'),
    ...around('Switch', 'controlplane.migration-attempt', inAttempt),
    ...around('Switch', 'controlplane.migration-hold', inAttempt),
    { step: 'Switch', at: 'controlplane.migration-switched.before', ...inAttempt },
    { step: 'Switch', at: 'controlplane.migration-switched.after' },
    ...around('Switch', 'hosted.replica-unfence'),
    ...around('Switch', 'hosted.replica-active'),
    ...around('Switch', 'controlplane.migration-pass-to'),
    ...around('Registrations', 'controlplane.migration-served'),
    ...around('Decommission', 'controlplane.migration-decommission'),
    ...around('Decommission', 'controlplane.migration-delete-data'),
    ...around('Decommission', 'controlplane.migration-complete'),
  ],
  Virtual: [
    ...around('Provision', 'controlplane.migration-start-receiving'),
    ...around('CopyAndFollow', 'controlplane.migration-receive'),
    ...around('Verify', 'controlplane.migration-verify'),
    ...around('Switch', 'controlplane.migration-attempt', inAttempt),
    ...around('Switch', 'controlplane.migration-hold', inAttempt),
    ...around('Switch', 'hosted.replica-fence', inAttempt),
    ...around('Switch', 'hosted.replica-fenced', inAttempt),
    { step: 'Switch', at: 'controlplane.migration-switched.before', ...inAttempt },
    { step: 'Switch', at: 'controlplane.migration-switched.after' },
    ...around('Switch', 'controlplane.migration-serve-received'),
    ...around('Registrations', 'controlplane.migration-served'),
    ...around('Decommission', 'controlplane.migration-decommission'),
    ...around('Decommission', 'controlplane.migration-hosted-control-plane-delete'),
    ...around('Decommission', 'controlplane.migration-complete'),
  ],
};

const victims: readonly Victim[] = ['hangar', 'etcd', 'kube-apiserver'];

/** Programs that do not run at a point cannot be killed there. */
function runsAt(victim: Victim, to: Side, { at }: KillPoint): boolean {
  if (victim === 'hangar') return true;
  if (to === 'Virtual') return !at.endsWith('hosted-control-plane-delete.after') && !at.includes('migration-complete');
  const hasEtcd = !at.includes('migration-hosted-control-plane') && !at.includes('replica-seed');
  return hasEtcd && (victim === 'etcd' || !at.includes('replica-fence'));
}

/**
 * Every point with every program. The kills of a round are one of an attempt, and every seventh of the others: an attempt that fails is
 * repeated with a back-off that doubles.
 */
export function allRounds(): Round[] {
  const kills = (to: Side): Kill[] =>
    victims.flatMap((victim) =>
      killPoints[to].filter((point) => runsAt(victim, to, point)).map((point) => ({ ...point, victim })),
    );
  const [there, back] = [spread(kills('Dedicated')), spread(kills('Virtual'))];
  // As many in each direction: a round without kills is a migration.
  return Array.from({ length: Math.max(there.length, back.length) }).flatMap((_, at) => [
    { to: 'Dedicated' as const, kills: there[at] ?? [] },
    { to: 'Virtual' as const, kills: back[at] ?? [] },
  ]);
}

/**
 * Returns the rounds that `HANGAR_MIGRATION_KILLS` selects: `all`; `3/8`, the third of eight parts; or `8-11`, these rounds. A selection has
 * whole pairs: from virtual, and back to it. Absent: one migration in each direction. Throws if it selects nothing.
 */
export function selectedRounds(text: string | undefined): readonly Round[] {
  if (text === undefined) return fewRounds;
  const rounds = allRounds();
  if (text === 'all') return rounds;
  const [, first, sign, second] = /^(\d{1,4})([/-])(\d{1,4})$/.exec(text) ?? [];
  const [from, to] = [Number(first), Number(second)];
  const isWanted = (round: number): boolean => {
    const pair = Math.floor(round / 2);
    return sign === '/' ? pair % to === from - 1 : pair >= Math.floor(from / 2) && pair <= Math.floor(to / 2);
  };
  const selected = sign === undefined ? [] : rounds.filter((_, round) => isWanted(round));
  if (selected.length > 0) return selected;
  throw new Error(`HANGAR_MIGRATION_KILLS=${text}: expected "all", a part such as "3/8", or rounds such as "8-11"`);
}

function spread(kills: readonly Kill[]): Kill[][] {
  const attempts = kills.filter(({ isInAttempt }) => isInAttempt);
  const rounds = attempts.map((kill) => [kill]);
  const others = kills.filter(({ isInAttempt }) => !isInAttempt);
  for (const [at, kill] of others.entries()) rounds[at % rounds.length]!.push(kill);
  return rounds;
}

/** One migration in each direction, for every run of the tests. */
export const fewRounds: readonly Round[] = [
  {
    to: 'Dedicated',
    kills: [
      { step: 'Switch', at: 'controlplane.migration-hold.after', victim: 'hangar', ...inAttempt },
      { step: 'Switch', at: 'controlplane.migration-switched.after', victim: 'hangar' },
      { step: 'Decommission', at: 'controlplane.migration-delete-data.before', victim: 'etcd' },
    ],
  },
  {
    to: 'Virtual',
    kills: [
      { step: 'CopyAndFollow', at: 'controlplane.migration-receive.after', victim: 'kube-apiserver' },
      { step: 'Switch', at: 'hosted.replica-fence.after', victim: 'hangar', ...inAttempt },
      { step: 'Switch', at: 'controlplane.migration-serve-received.before', victim: 'etcd' },
    ],
  },
];
