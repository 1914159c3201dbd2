/** Limits on input from clients, and Kubernetes' budgets. */

/** Code units of source text; cel-go's default limit on expression size. */
export const sourceLengthMax = 100_000;
/** Nesting of the tree; as in cel-go. Every recursion over the tree is bounded by it. */
export const depthMax = 250;
/** Nodes of the tree after macros: some repeat their target, and repetitions of repetitions multiply. */
export const weightMax = 200_000;
/** Cost limit of one evaluation in Kubernetes. */
export const perCallCostLimit = 1_000_000;
/** Limit of the estimated cost of one rule of a CustomResourceDefinition. */
export const estimatedRuleCostLimit = 10_000_000;
/** Limit of the estimated cost of all rules of a CustomResourceDefinition. */
export const estimatedSchemaCostLimit = 100_000_000;
/** Cost limit of all rules together for one request. */
export const perRequestCostLimit = 10_000_000;
/** Processor time of all expressions of one request together. */
export const requestMsMax = 500;
/** Processor time of compiling the expressions of one request. */
export const compilationMsMax = 2_000;
/** Processor time of a computation in slices, such as the validation of one object. */
export const computationMsMax = 5_000;
/** Interrupted compilations after which an expression counts as invalid. */
export const interruptionsMax = 3;
/** Processor time between two rests: of one expression with its variables, or of all rules of an object. */
export const sliceMsMax = 30;
/** Processor time after which a request lets others run before its next expression. */
export const restAfterMs = 5;
/** Memory that the expressions of one request may allocate, whether they keep it or not. */
export const requestBytesMax = 64 * 1024 * 1024;
/** Characters that a function may create: the cost of some functions counts the input, not the output. */
export const textLengthMax = 16 * 1024 * 1024;
/** Elements of a concatenation of lists, which costs one unit for any size. */
export const listSizeMax = 4 * 1024 * 1024;
/** Problems reported per expression; more would only repeat. */
export const issuesMax = 100;
