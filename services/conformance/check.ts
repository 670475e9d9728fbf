import type { Kit } from './kit.ts';

/** One thing that the contract demands. */
export interface Check {
  readonly name: string;
  /** Why it cannot be checked with this profile; undefined = it can. */
  readonly skip?: (kit: Kit) => string | undefined;
  /** Rejects, with an Error that says what is wrong, when the adapter does not do what it must. */
  readonly run: (kit: Kit) => Promise<void>;
  /** When it runs: beside the others, when they have ended, by itself (it kills the adapter), or at the very end. */
  readonly when?: 'alone' | 'last';
}

/** Skips a check unless the profile names what it needs. */
export function needs(what: string, find: (kit: Kit) => unknown) {
  return (kit: Kit) => (find(kit) === undefined ? `the profile names no ${what}` : undefined);
}
