import { isSupported, KINDS, type Kind, type Way } from './kinds.ts';
import type { Kit } from './kit.ts';
import type { Feature, Profile } from './profile.ts';
import type { Request } from './requests.ts';

/** Why something is not checked. */
export interface Skip {
  readonly why: string;
  /** It is nothing that the processor does, or refuses: nothing is left unjudged. Otherwise the profile lacks something. */
  readonly isNoMatter?: true;
}

/** One thing that the contract demands. */
export interface Check {
  readonly name: string;
  /** Why it is not checked of this adapter with this profile; undefined = it is. */
  readonly skip?: (kit: Kit) => Skip | undefined;
  /** Rejects, with an Error that says what is wrong, when the adapter does not do what it must. */
  readonly run: (kit: Kit) => Promise<void>;
  /** When it runs: beside the others, when they have ended, by itself (it kills the adapter), or at the very end. */
  readonly when?: 'alone' | 'last';
}

/** Skips a check unless the profile names a token; with a way, one of a kind of operation that goes so. */
export function needs(name: keyof Profile['tokens'], way?: Way) {
  return ({ profile }: Kit): Skip | undefined => {
    const named = profile.tokens[name];
    const token = typeof named === 'object' ? way && named[way] : named;
    if (token !== undefined) return undefined;
    return { why: `the profile names no token tokens.${way ? `${name}.${way}` : name}` };
  };
}

/**
 * Skips a check unless the processor can do such operations, and the profile names a token with which they go a certain
 * way.
 */
export function supported(kind: Kind, way?: Way) {
  return (kit: Kit): Skip | undefined => {
    if (!isSupported(kind, kit)) return noMatter('the processor cannot do it');
    if (way?.startsWith('accepted') && !kit.can('accepts'))
      return noMatter('the processor accepts nothing to do it later');
    return way && needs(kind.name, way)(kit);
  };
}

/** Skips a check unless the processor has a feature. */
export function can(feature: Feature, otherwise: string) {
  return (kit: Kit): Skip | undefined => (kit.can(feature) ? undefined : noMatter(otherwise));
}

/** Skips a check unless the processor lacks a feature. */
export function cannot(feature: Feature) {
  return (kit: Kit): Skip | undefined => (kit.can(feature) ? noMatter('the processor can do it') : undefined);
}

/** That a check is nothing for this processor. */
export function noMatter(why: string): Skip {
  return { why, isNoMatter: true };
}

/** A check of every processor. */
export function check(name: string, run: Check['run']): Check {
  return { name, run };
}

/** A check that is skipped when `skip` says why. */
export function checkUnless(skip: NonNullable<Check['skip']>, name: string, run: Check['run']): Check {
  return { name, skip, run };
}

/** Does what an operation needs; returns its request, which was not sent yet. */
export type Prepare = () => Promise<Request>;

/** What is demanded of every kind of operation. */
interface KindCheck {
  readonly name: string;
  /** Operations are prepared with the token with which they go so. */
  readonly way?: Way;
  readonly skip?: Check['skip'];
  readonly run: (kit: Kit, prepare: Prepare, kind: Kind) => Promise<void>;
}

/** The same checks of each kind of operation that the processor can do. */
export function ofEachKind(checks: readonly KindCheck[], kinds = KINDS): Check[] {
  return kinds.flatMap((kind) =>
    checks.map(({ name, way, skip, run }) => ({
      name: `${kind.name}: ${name}`,
      skip: (kit) => supported(kind, way)(kit) ?? skip?.(kit),
      run: (kit) => run(kit, () => kind.prepare(kit, way && kit.profile.tokens[kind.name][way]), kind),
    })),
  );
}

/** A check at the very end. */
export function lastCheck(name: string, run: Check['run']): Check {
  return { name, run, when: 'last' };
}
