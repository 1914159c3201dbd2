/** Recognizes from the last lines of a crashed etcd that its data is lost or damaged, so that no restart can help. */

export type DataLoss = 'Wiped' | 'Removed' | 'Corrupt';

const signs: readonly (readonly [DataLoss, RegExp])[] = [
  // The data directory is empty, and the settings do not allow the member to start with an empty one.
  ['Wiped', /couldn't find local name|has already been bootstrapped/],
  // The leader expects entries that the member had acknowledged.
  ['Wiped', /tocommit\(\d+\) is out of range|raft log corrupted, truncated, or lost/],
  ['Removed', /the member has been permanently removed|this member has been removed from the cluster/],
  [
    'Corrupt',
    /(?:wal|walpb|snap(?:shot)?): ?crc mismatch|failed to find database snapshot file|wal: max entry size limit exceeded/,
  ],
  ['Corrupt', /invalid database|file size too small|freelist: |page \d+: |checksum (?:error|mismatch)|data corruption/],
  // The log ends with the stack of a crash, so the message can be cut off.
  ['Corrupt', /Page expected to be: \d+, but|go\.etcd\.io\/bbolt\.\(\*Tx\)\.page\(/],
  ['Corrupt', /failed to read WAL|failed to (?:load|recover).*(?:snapshot|backend)|cannot be repaired/],
];

/** `log`: the termination message of the container: the last 2 kB of its log. */
export const dataLossIn = (log: string): DataLoss | undefined => signs.find(([, sign]) => sign.test(log))?.[0];
