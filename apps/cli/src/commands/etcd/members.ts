/** `hangar etcd members NAME`: the etcd members of a hosted control plane in columns. */

import type { Call } from '../../command.ts';
import { findHosted, fullName } from '../../hosted/find.ts';
import type { EtcdMember } from '../../kinds.ts';
import { stylesOf } from '../../terminal/styles.ts';
import type { Style, Styler } from '../../terminal/styles.ts';
import { table } from '../../terminal/table.ts';

export async function listMembers({ session, given, client: connected }: Call): Promise<void> {
  const [, name = ''] = given.args;
  const client = await connected();
  const plane = await findHosted(client, name, { namespace: given.text('namespace'), signal: session.signal });
  const members = plane.status?.etcdMembers ?? [];
  if (members.length === 0) return session.err.write(`the operator has not observed etcd of ${fullName(plane)} yet\n`);
  session.out.write(memberTable(members, stylesOf(session.out, session.env)));
}

export function memberTable(members: readonly EtcdMember[], style: Styler): string {
  const hasRevisions = members.some(({ revision }) => revision !== undefined);
  const head = ['MEMBER', 'ID', 'ROLE', 'HEALTHY', 'VERSION', 'SIZE', ...(hasRevisions ? ['REVISION'] : [])];
  const rows = members.map(({ name, id, role, healthy, version, dbSize, revision }) => [
    name,
    id ?? '-',
    role ?? 'Unknown',
    healthy ? 'True' : 'False',
    version ?? '-',
    String(dbSize ?? '-'),
    ...(hasRevisions ? [String(revision ?? '-')] : []),
  ]);
  return table(head, rows, { style, styleOf: styleOfCell });
}

const styleOfCell = (column: string, cell: string): Style | undefined =>
  column === 'HEALTHY' ? (cell === 'True' ? 'good' : 'bad') : undefined;
