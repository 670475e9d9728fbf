import type { Method } from '../core.ts';

/** Succeeds for every caller that the interceptors let through: those with an operator's credential. */
export const checkOperator: Method<'checkOperator'> = () => ({});
