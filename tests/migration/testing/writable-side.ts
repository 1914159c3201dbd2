/**
 * Proves from the histories of both sides that never two of them were writable. A revision belongs to the side that served the control
 * plane when it was written: up to the revision of a switch to the old side, after it to the new one. Pure.
 *
 *     switches     Dedicated at 100      Virtual at 180
 *     revisions    1 … 100 Virtual │ 101 … 180 Dedicated │ 181 … Virtual
 */

export type Side = 'Virtual' | 'Dedicated';

export interface Switch {
  readonly to: Side;
  /** The last revision of the old side. */
  readonly revision: number;
}

/** A version of an object, as one side has stored it. */
export interface StoredVersion {
  readonly key: string;
  readonly createRevision: number;
  readonly modRevision: number;
  readonly version: number;
}

export interface Acknowledged {
  readonly key: string;
  readonly revision: number;
  readonly sentMs: number;
  readonly acknowledgedMs: number;
}

export interface Histories {
  /** In the order in which they happened. */
  readonly switches: readonly Switch[];
  readonly versions: Readonly<Record<Side, readonly StoredVersion[]>>;
  /** Content of the dedicated side when it was first read: a copy, with base objects that the range of the tenant does not have. */
  readonly copied?: readonly StoredVersion[];
  readonly acknowledged: readonly Acknowledged[];
}

/** Returns the side that a revision belongs to. */
export function sideAt(switches: readonly Switch[], revision: number): Side {
  return switches.findLast((one) => one.revision < revision)?.to ?? 'Virtual';
}

/** Returns one line for every version that the wrong side has written, and for every acknowledged write that its side does not have. */
export function sideFaults({ switches, versions, copied = [], acknowledged }: Histories): string[] {
  const faults = switches.slice(1).flatMap(({ revision }, at) => {
    const { revision: before } = switches[at]!;
    return revision < before ? [`the switch at revision ${revision} follows one at revision ${before}`] : [];
  });
  const dedicated = [...copied, ...versions.Dedicated];
  const stored = { Virtual: textsOf(versions.Virtual), Dedicated: textsOf(dedicated) };
  for (const side of ['Virtual', 'Dedicated'] as const) {
    for (const version of versions[side]) {
      const owner = sideAt(switches, version.modRevision);
      // The other side may have a copy: the same version of the same key.
      if (owner === side || stored[owner].has(textOf(version))) continue;
      faults.push(`${textOf(version)}: written by side ${side}, when side ${owner} was writable`);
    }
  }
  const written = { Virtual: writesOf(versions.Virtual), Dedicated: writesOf(dedicated) };
  for (const { key, revision } of acknowledged) {
    const owner = sideAt(switches, revision);
    if (!written[owner].has(`${key} ${revision}`))
      faults.push(`${key} at ${revision}: acknowledged, but side ${owner}, which was writable, has not written it`);
  }
  return [...faults, ...orderFaults(acknowledged)];
}

/** A write that was sent after the acknowledgement of another one has a higher revision. */
function orderFaults(acknowledged: readonly Acknowledged[]): string[] {
  const bySent = acknowledged.toSorted((a, b) => a.sentMs - b.sentMs);
  const byAnswer = acknowledged.toSorted((a, b) => a.acknowledgedMs - b.acknowledgedMs);
  const faults: string[] = [];
  let answered = 0;
  let highest = 0;
  for (const { key, revision, sentMs } of bySent) {
    for (; answered < byAnswer.length && byAnswer[answered]!.acknowledgedMs < sentMs; answered++) {
      highest = Math.max(highest, byAnswer[answered]!.revision);
    }
    if (revision <= highest) faults.push(`${key}: got revision ${revision} after ${highest} was acknowledged`);
  }
  return faults;
}

const textOf = ({ key, createRevision, modRevision, version }: StoredVersion): string =>
  `${key} at ${modRevision}, created at ${createRevision}, version ${version}`;
const textsOf = (versions: readonly StoredVersion[]): ReadonlySet<string> => new Set(versions.map(textOf));
const writesOf = (versions: readonly StoredVersion[]): ReadonlySet<string> =>
  new Set(versions.map(({ key, modRevision }) => `${key} ${modRevision}`));
