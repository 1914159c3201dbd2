/** Converts error responses to errors. */

import type { Status } from '@hangar/api';
import { ReceivedStatusError, reasonOfCode } from '../errors.ts';
import type { HttpAnswer } from '../transport/contract.ts';

/** Returns the error of a response of `raw` whose status is not a success. Reads the body. */
export async function refusalOf(answer: HttpAnswer): Promise<ReceivedStatusError> {
  const text = (await answer.body()).toString();
  return new ReceivedStatusError(statusIn(text) ?? statusOfText(answer.status, text));
}

/** Returns undefined if the text is not a Status. */
function statusIn(text: string): Status | undefined {
  try {
    const value = JSON.parse(text) as Status;
    return value?.kind === 'Status' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** For responses of proxies, which are not a Status. */
const statusOfText = (code: number, text: string): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  reason: reasonOfCode(code),
  message: text.trim().slice(0, 500) || `the server responded with ${code}`,
  code,
});
