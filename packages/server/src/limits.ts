/** The bounds of what one request may ask for. */

/** As kube-apiserver: 3 MiB. */
export const bodyBytesMax = 3 * 1024 * 1024;

/** How often a write begins anew because somebody else was faster. */
export const attemptsMax = 5;
/** The same for writes that do not depend on what they overwrite. */
export const unconditionalAttemptsMax = 1_000;
