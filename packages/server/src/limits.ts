/** Limits of one request. */

/** As in kube-apiserver: 3 MiB. */
export const bodyBytesMax = 3 * 1024 * 1024;

/** Number of attempts of a write that conflicts with other writes. */
export const attemptsMax = 5;
/** The same for writes that do not depend on the overwritten value. */
export const unconditionalAttemptsMax = 1_000;
