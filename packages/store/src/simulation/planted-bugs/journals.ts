/** Journals that keep less than they promise. */

import { Journal } from '../../drivers/memory/journal.ts';
import type { OpenJournal } from '../../drivers/memory/memory-store.ts';
import type { Mutation } from '../../drivers/memory/mutation.ts';
import { StoreError } from '../../errors.ts';

type Append = (group: readonly Mutation[]) => Promise<void>;

function journalWith(alter: (journal: Journal) => Append): OpenJournal {
  return async (...parameters) => {
    const journal = await Journal.open(...parameters);
    return {
      get bytes() {
        return journal.bytes;
      },
      append: alter(journal),
      rewrite: (snapshot) => journal.rewrite(snapshot),
      close: () => journal.close(),
    };
  };
}

/** Each change is a separate record: a crash between two of them leaves half of a transaction. */
export const tornGroups = journalWith((journal) => async (group) => {
  await journal.append(group.slice(0, 1));
  for (const mutation of group.slice(1)) await untilItWorks(() => journal.append([mutation]));
});

/** Only a crash tears here: started writes are completed, unless the disk is gone. */
async function untilItWorks(act: () => Promise<void>): Promise<void> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await act();
    } catch (error) {
      if (attempts === 50) throw error;
    }
  }
}

/** The answer does not wait for the disk. */
export const earlyAnswers = journalWith((journal) => {
  let written: Promise<void> = Promise.resolve();
  return async (group) => {
    const copy = [...group];
    written = written.then(() => journal.append(copy)).catch(() => {});
  };
});

/** Ignores a failed write. */
export const swallowedErrors = journalWith((journal) => (group) => journal.append(group).catch(() => {}));

/** Refuses all writes after the first refusal: a full disk is never detected to have space again. */
export const lastingRefusal = journalWith((journal) => {
  let refusal: Error | undefined;
  return async (group) => {
    if (refusal) throw refusal;
    await journal.append(group).catch((error: Error) => {
      refusal = error;
      throw error;
    });
  };
});

/** Reports that a write did not happen although it may have, and has after a crash. */
export const refusedButWritten = journalWith((journal) => (group) => {
  return journal.append(group).catch((error: unknown) => {
    throw new StoreError('StorageFull', 'no space left, it seems', { cause: error });
  });
});

/** Restored entries have the revision of their transaction after a restart. */
export const forgottenRestores: OpenJournal = (disk, directory, replay) =>
  Journal.open(disk, directory, (group) => replay(group.map(withoutRestored)));

function withoutRestored(mutation: Mutation): Mutation {
  return mutation.type === 'append' ? { type: 'append', row: { ...mutation.row, modRevision: undefined } } : mutation;
}
