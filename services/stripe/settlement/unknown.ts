/** What became of an operation is not known: the caller gets an error status, and asks by an inquiry. */
export class OutcomeUnknown extends Error {}
