/** Who a client certificate is for, by its subject. */

export interface Subject {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Of the user, where there is one: 1.3.6.1.4.1.57683.2. */
  readonly uid?: string;
}

const uidOfUsers = '1.3.6.1.4.1.57683.2';

/** From a subject as Node reads it, several values of one type as a list. Undefined: nobody can tell whose it is. */
export function subjectOf(subject: object | undefined): Subject | undefined {
  if (!subject) return undefined;
  const { CN: names, O: organizations, [uidOfUsers]: uid } = subject as Record<string, string | string[] | undefined>;
  // Two of them are nobody's, where there must be one.
  if (Array.isArray(uid)) return undefined;
  return {
    // Of several names the last counts, as Go has it: an administrator sees the same user everywhere.
    commonName: [names].flat().at(-1) ?? '',
    organizations: [organizations ?? []].flat(),
    ...(uid ? { uid } : {}),
  };
}
