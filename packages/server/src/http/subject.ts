/** Parses the user from the subject of a client certificate. */

export interface Subject {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** UID of the user, if present: 1.3.6.1.4.1.57683.2. */
  readonly uid?: string;
}

const uidOfUsers = '1.3.6.1.4.1.57683.2';

/** Parses a subject in Node's form, where several values of one type are a list. Returns undefined if the user is ambiguous. */
export function subjectOf(subject: object | undefined): Subject | undefined {
  if (!subject) return undefined;
  const { CN: names, O: organizations, [uidOfUsers]: uid } = subject as Record<string, string | string[] | undefined>;
  // Two UIDs are ambiguous.
  if (Array.isArray(uid)) return undefined;
  return {
    // The last of several names counts, as in Go, so that both servers see the same user.
    commonName: [names].flat().at(-1) ?? '',
    organizations: [organizations ?? []].flat(),
    ...(uid ? { uid } : {}),
  };
}
