import { type Kind, tokenOf, type Way } from './kinds.ts';
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

/**
 * Skips a check unless the processor can do such operations, and the profile names a token with which they go a certain
 * way.
 */
export function supported(kind: Kind, way?: Way) {
  return ({ description, profile }: Kit): string | undefined => {
    if (!kind.isSupported(description)) return 'the processor cannot do it';
    if (way && tokenOf(profile, kind, way) === undefined)
      return `the profile names no token tokens.${kind.name}.${way}`;
    return undefined;
  };
}

/** A check of a kind of operation, for processors that can do such operations. */
export function checkOf(kind: Kind, name: string, run: Check['run']): Check {
  return { name: `${kind.name}: ${name}`, skip: supported(kind), run };
}
