/** A reported revision must belong to a transaction that had begun by then. */

import type { Revision } from '../../contract.ts';
import type { Truth } from '../model/truth.ts';
import type { Moment } from '../trace.ts';
import { Violation } from '../violation.ts';

export function checkRevisionExists(truth: Truth, revision: Revision, told: Moment): void {
  if (!truth.exists(revision)) {
    throw new Violation('invented', told.line, `no transaction has the revision ${revision} that was told`);
  }
  const begun = truth.transactions.get(revision)?.commit?.invoked;
  if (begun && begun.line > told.line) {
    throw new Violation('linearizable', told.line, `revision ${revision} was told before its transaction began`);
  }
}
